// Values as text, and what they mean. Every option has one canonical spelling (128K is 131072),
// so that two ways to write one point give the same row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth::experiments {

/// The canonical spelling; throws std::invalid_argument with what is allowed.
std::string canonical_value(const OptionSpec& option, std::string_view text);

/// A whole number with an optional K, M or G; throws std::invalid_argument.
int64_t parse_count(std::string_view text);
/// A number of bytes with an optional unit (B, K, M, G, KiB, MiB, GiB); throws
/// std::invalid_argument. A fraction of a unit is rounded to whole bytes.
int64_t parse_bytes(std::string_view text);
/// none, causal or window:W; throws std::invalid_argument.
Mask parse_mask(std::string_view text);

/// The parts of `text` between commas, without white space around them; empty parts stay.
std::vector<std::string> split_list(std::string_view text);
std::string_view trimmed(std::string_view text);

inline constexpr std::string_view window_prefix = "window:";
inline constexpr std::string_view auto_prefix = "auto:";

}  // namespace sawtooth::experiments
