// Units of time that columns and profiles are in.
#pragma once

namespace sawtooth::experiments {

inline constexpr double ns_a_us = 1000;

}  // namespace sawtooth::experiments
