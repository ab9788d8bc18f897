// What fuzzing runs: each target reads any bytes, and throws or aborts only for a bug. Errors that
// a user would see are expected and swallowed.
#pragma once

#include <span>

namespace sawtooth::fuzz {

/// A trace, binary or CSV: it can be written and read back, analysed, and taken apart into lines.
void trace(std::span<const char> bytes);
/// A configuration: its points resolve, and its resolved form means the same.
void configuration(std::span<const char> bytes);
/// A table: its rows are as long as its header, and can be written and read back.
void csv(std::span<const char> bytes);

}  // namespace sawtooth::fuzz
