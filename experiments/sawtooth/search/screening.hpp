// A cheaper problem that ranks schedules before the deciding model does.
#pragma once

#include "experiments/sawtooth/search/space.hpp"

namespace sawtooth::experiments {

/// By which power of two a shape's problem is shortened: as long as all items still make two waves
/// and K/V have 16 tiles, until a replay has at most 2^18 steps.
int64_t shortening(const Candidate& candidate);

/// Both lengths, the window and L2 divided by `divisor`, so that the K/V heads that fit in L2, and
/// where in a head its edge lies, stay as they are.
Candidate shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                    Catalog& catalog);

}  // namespace sawtooth::experiments
