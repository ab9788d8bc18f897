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
/// An order file, after some bytes that choose its problem: SMs read and write what they do
/// without.
void order(std::span<const char> bytes);
/// Bytes that choose the options of a sweep: its counters and times keep to what holds for any.
void sweep(std::span<const char> bytes);
/// A profile, after a byte that says of what: what is accepted can be predicted with.
void profile(std::span<const char> bytes);
/// A file of a command, after a byte that says of which: items, launches, stamps, rows to learn
/// from, a report, streams, tables to compare, lengths, pages, a hash matrix, an INI.
void readers(std::span<const char> bytes);

}  // namespace sawtooth::fuzz
