// What calls of all kinds share on their way from a point: hints, and refusals as keys.
#pragma once

#include <string>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/attention/attention.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

inline kernels::Eviction eviction(sim::Priority priority) {
  switch (priority) {
    case sim::Priority::evict_first:
      return kernels::Eviction::first;
    case sim::Priority::evict_last:
      return kernels::Eviction::last;
    case sim::Priority::normal:
      break;
  }
  return kernels::Eviction::normal;
}

/// Throws UsageError with the key that the API refused.
inline void require_taken(const kernels::Outcome& outcome) {
  using kernels::Status;
  if (outcome) return;
  const char* key = "kernel";
  if (outcome.status == Status::unsupported_head_dim) key = "head-dim";
  if (outcome.status == Status::unsupported_type) key = "dtype";
  if (outcome.status == Status::unsupported_tiling) key = "tile-q, tile-kv";
  throw UsageError(std::string(key) + ": " + outcome.message);
}

}  // namespace sawtooth::experiments
