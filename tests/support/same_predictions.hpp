// Two predictions beside each other.
#pragma once

#include "sim/lru/distance_histogram.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::tests {

/// Whether all counters are the same, in all and of each tensor.
inline bool same_counters(const sim::Prediction& one, const sim::Prediction& other) {
  for (const sim::CounterColumn& column : sim::counter_columns) {
    if (one.total.*column.member != other.total.*column.member) return false;
    for (size_t t = 0; t < one.by_tensor.size(); ++t)
      if (one.by_tensor[t].*column.member != other.by_tensor[t].*column.member) return false;
  }
  return true;
}

/// Whether both have the same bins, tensor by tensor and access by access.
inline bool same_histogram(const sim::DistanceHistogram& one, const sim::DistanceHistogram& other) {
  for (int t = 0; t < sim::tensor_count; ++t) {
    for (int a = 0; a < sim::access_count; ++a) {
      const auto tensor = static_cast<sim::Tensor>(t);
      const auto access = static_cast<sim::Access>(a);
      const sim::DistanceClass& left = one.of(tensor, access);
      const sim::DistanceClass& right = other.of(tensor, access);
      if (left.bins() != right.bins() || left.cold_sectors() != right.cold_sectors()) return false;
    }
  }
  return true;
}

}  // namespace sawtooth::tests
