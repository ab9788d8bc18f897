// Two predictions beside each other.
#pragma once

#include "sim/prediction.hpp"

namespace sawtooth::tests {

/// Whether all counters of all tensors are the same, and the steps.
inline bool same_counters(const sim::Prediction& one, const sim::Prediction& other) {
  for (size_t t = 0; t < one.by_tensor.size(); ++t)
    for (const sim::CounterColumn& column : sim::counter_columns)
      if (one.by_tensor[t].*column.member != other.by_tensor[t].*column.member) return false;
  return one.steps == other.steps;
}

}  // namespace sawtooth::tests
