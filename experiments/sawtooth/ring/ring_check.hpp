// Whether ring attention and one GPU have the same results, up to rounding.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::experiments {

/// Bits of a bf16 or fp16 number as a float.
float value_of_bits(uint16_t bits, ElementType dtype);

/// O and log-sum-exp, [batch, heads, rows, dim] and [batch, heads, rows].
struct HostResults {
  std::vector<uint16_t> o;
  std::vector<float> lse;
};

/// Largest differences over the rows of one or several ranks.
class ResultDifference {
 public:
  /// Of `dtype` and `head_dim`.
  ResultDifference(ElementType dtype, int64_t head_dim) : dtype_(dtype), head_dim_(head_dim) {}

  /// Adds a rank's rows; `whole` has all of the sequence.
  void add(const Ring& ring, int64_t rank, int64_t heads, const HostResults& whole,
           const HostResults& of_rank);

  /// Root of the mean square of O's difference, over that of O.
  double o() const;
  double lse() const { return lse_; }
  /// Two results that are each rounded twice, P and O, and a float sum in another order.
  double allowed_o() const;
  static constexpr double allowed_lse = 2e-3;
  bool is_small() const { return o() <= allowed_o() && lse() <= allowed_lse; }
  std::string text() const;

 private:
  ElementType dtype_;
  int64_t head_dim_;
  double square_ = 0, norm_ = 0, lse_ = 0;
};

}  // namespace sawtooth::experiments
