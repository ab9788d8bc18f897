// Tensors of a test in device memory, in one of several layouts, with memory around them that must
// stay untouched.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/common/device_buffer.hpp"
#include "kernels/common/strides.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::kernels {

/// How the tensors of a test lie in memory.
enum class Layout : uint8_t {
  contiguous,    // [batch, head, length, dim]
  length_first,  // [batch, length, head, dim]
  padded         // contiguous with gaps after rows, heads and batches
};

inline constexpr int poison_byte = 0xff;  // NaN in bf16, fp16 and float

struct TensorShape {
  int64_t batch, heads, length, head_dim;
};

struct Placement {
  Strides strides;
  int64_t elements = 0;  // from the first to the last, inclusive
};

/// The tensor in device memory with a guard zone of poison on both sides.
struct DeviceTensor {
  TensorShape shape;
  ElementType dtype;
  Placement placement;
  std::vector<unsigned char> host;
  DeviceBuffer device;

  /// `data` is contiguous; null: poison.
  DeviceTensor(const TensorShape& shape, Layout layout, const std::vector<float>* data,
               ElementType dtype);
  void* data() const;
  /// Where element `element` of the placement lies in the bytes of `host` and `device`.
  size_t offset_of(int64_t element) const;
  /// The elements, contiguous. `untouched` becomes false where a gap or guard is poison no more.
  std::vector<float> read_back(bool& untouched);
};

/// Lets `call` read q, k and v and write o.
template <class Call>
void set_tensors(Call& call, const DeviceTensor& q, const DeviceTensor& k, const DeviceTensor& v,
                 const DeviceTensor& o) {
  call.q = q.data();
  call.k = k.data();
  call.v = v.data();
  call.o = o.data();
  call.q_strides = q.placement.strides;
  call.k_strides = k.placement.strides;
  call.v_strides = v.placement.strides;
  call.o_strides = o.placement.strides;
}

/// Normal values times `spread`, rounded to the element type.
std::vector<float> random_elements(int64_t count, ElementType dtype, float spread,
                                   std::mt19937_64& generator);

/// `value` as the element type holds it.
float representable(float value, ElementType dtype);

}  // namespace sawtooth::kernels
