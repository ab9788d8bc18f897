// Values as text, and what they mean. Every option has one canonical spelling (128K is 131072),
// so that two ways to write one point give the same row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth::experiments {

/// The canonical spelling; throws std::invalid_argument with what is allowed.
std::string canonical_value(const OptionSpec& option, std::string_view text);

/// none, causal or window:W; throws std::invalid_argument.
Mask parse_mask(std::string_view text);

inline constexpr std::string_view window_prefix = "window:";
inline constexpr std::string_view auto_prefix = "auto:";

}  // namespace sawtooth::experiments
