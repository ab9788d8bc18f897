// Checks of a call's fields that both passes share, without a device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/attention/attention.hpp"

namespace sawtooth::kernels {

Outcome refuse(Status status, std::string message);

/// "a, b, c" of what a message allows.
template <class Values, class TextOf>
std::string listed(const Values& values, TextOf text_of) {
  std::string text;
  for (const auto& value : values) text.append(text.empty() ? "" : ", ").append(text_of(value));
  return text;
}

Outcome check_sizes(const Problem& problem);

/// Whether this build has a kernel of the pass with this family, head dim, type and tile.
Outcome check_variant(const Problem& problem, const Tiling& tiling, std::string_view family,
                      Pass pass);

/// The tensor is one of elements; `sizes` are batch, heads and rows.
Outcome check_tensor(const char* name, const void* data, const Strides& strides,
                     const int64_t (&sizes)[3], int64_t head_dim);

/// The floats are log-sum-exp, and may be null.
Outcome check_floats(const char* name, const float* data);
Outcome check_scale(float scale);

/// Names and ranges of a schedule, whatever the kernel.
Outcome check_policies(const Schedule& schedule);

}  // namespace sawtooth::kernels
