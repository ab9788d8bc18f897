// A cheaper problem that ranks schedules before the deciding model does.
#pragma once

#include <string>

#include "experiments/sawtooth/search/space.hpp"

namespace sawtooth::experiments {

struct Screened {
  Candidate candidate;
  std::string evaluated_by;  // "lockstep, lru" or "timed, halves on seq 16384"
};

/// Whether misses in lockstep rank the shape's schedules: without a mask, with equal items, one
/// CTA an SM and no prefetch CTAs stay in step.
bool lockstep_ranks(const Shape& shape);

/// The candidate in lockstep on an LRU of what L2 keeps of lines that all SMs read: half of it
/// where it has two parts.
Screened in_lockstep(const Candidate& candidate, const std::string& experiment, Catalog& catalog);

/// By which power of two a shape's problem is shortened: as long as all items still make two waves
/// and K/V have 16 tiles, until a replay has at most 2^18 steps.
int64_t shortening(const Candidate& candidate);

/// Both lengths, the window and L2 divided by `divisor`, so that the K/V heads that fit in L2, and
/// where in a head its edge lies, stay as they are.
Screened shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                   Catalog& catalog);

/// "timed, halves", the model of a point.
std::string model_of(const Point& point);

}  // namespace sawtooth::experiments
