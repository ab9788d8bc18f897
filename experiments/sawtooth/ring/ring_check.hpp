// Whether ring attention and one GPU have the same results, up to rounding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/problem.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::experiments {

/// Bits of a bf16 or fp16 number as a float.
float value_of_bits(uint16_t bits, ElementType dtype);

/// Values are each rounded twice and summed in float in another order: the result is the root of
/// the mean square of their difference, over that of the values.
double allowed_difference(ElementType dtype);

/// A tensor of one GPU, [batch, heads, rows, dim], beside the rows of one or several ranks.
class TensorDifference {
 public:
  TensorDifference(ElementType dtype, int64_t head_dim) : dtype_(dtype), head_dim_(head_dim) {}

  /// Adds a rank's rows, of all batches' `heads`; `whole` has all of the sequence.
  void add(const Ring& ring, int64_t rank, int64_t heads, const std::vector<uint16_t>& whole,
           const std::vector<uint16_t>& of_rank);

  /// Root of the mean square of the difference, over that of the whole.
  double relative() const;
  bool is_small() const { return relative() <= allowed_difference(dtype_); }

 private:
  ElementType dtype_;
  int64_t head_dim_;
  double square_ = 0, norm_ = 0;
};

/// O and log-sum-exp, [batch, heads, rows, dim] and [batch, heads, rows].
struct HostResults {
  std::vector<uint16_t> o;
  std::vector<float> lse;
};

/// Largest differences of a forward pass over the rows of one or several ranks.
class ResultDifference {
 public:
  ResultDifference(ElementType dtype, int64_t head_dim) : dtype_(dtype), o_(dtype, head_dim) {}

  /// Adds a rank's rows; `whole` has all of the sequence.
  void add(const Ring& ring, int64_t rank, int64_t heads, const HostResults& whole,
           const HostResults& of_rank);

  double o() const { return o_.relative(); }
  double lse() const { return lse_; }
  static constexpr double allowed_lse = 2e-3;
  bool is_small() const { return o_.is_small() && lse() <= allowed_lse; }
  std::string text() const;

 private:
  ElementType dtype_;
  TensorDifference o_;
  double lse_ = 0;
};

}  // namespace sawtooth::experiments
