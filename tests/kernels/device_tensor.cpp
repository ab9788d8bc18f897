#include "tests/kernels/device_tensor.hpp"

#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/common/cuda_check.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t guard_elements = 256;  // poisoned memory on both sides of a tensor

void store(const auto& element, unsigned char* to) {
  std::memcpy(to, &element, sizeof element);
}
template <class Element>
Element loaded(const unsigned char* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  return element;
}

void encode(float value, ElementType dtype, unsigned char* to) {
  if (dtype == ElementType::bf16)
    store(__float2bfloat16_rn(value), to);
  else if (dtype == ElementType::fp16)
    store(__float2half_rn(value), to);
  else
    store(value, to);
}

float decode(const unsigned char* from, ElementType dtype) {
  if (dtype == ElementType::bf16) return __bfloat162float(loaded<__nv_bfloat16>(from));
  if (dtype == ElementType::fp16) return __half2float(loaded<__half>(from));
  return loaded<float>(from);
}

Placement place(const TensorShape& shape, Layout layout) {
  constexpr int64_t row_gap = 8, head_gap = 24, batch_gap = 40;  // multiples of 8 elements
  Strides strides = contiguous_strides(shape.heads, shape.length, shape.head_dim);
  if (layout == Layout::length_first)
    strides = {shape.length * shape.heads * shape.head_dim, shape.head_dim,
               shape.heads * shape.head_dim};
  if (layout == Layout::padded) {
    strides.row = shape.head_dim + row_gap;
    strides.head = shape.length * strides.row + head_gap;
    strides.batch = shape.heads * strides.head + batch_gap;
  }
  return {strides,
          strides.offset(shape.batch - 1, shape.heads - 1, shape.length - 1) + shape.head_dim};
}

/// Calls visit(offset in the placement, index in the contiguous array) for every element.
template <class Visit>
void for_each_element(const TensorShape& shape, const Strides& strides, Visit visit) {
  int64_t index = 0;
  for (int64_t batch = 0; batch < shape.batch; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head)
      for (int64_t row = 0; row < shape.length; ++row)
        for (int64_t d = 0; d < shape.head_dim; ++d)
          visit(strides.offset(batch, head, row) + d, index++);
}

}  // namespace

DeviceTensor::DeviceTensor(const TensorShape& of_shape, Layout layout,
                           const std::vector<float>* values, ElementType type)
    : shape(of_shape),
      dtype(type),
      placement(place(shape, layout)),
      host(size_t((placement.elements + 2 * guard_elements) * element_bytes(type)),
           static_cast<unsigned char>(poison_byte)),
      device(int64_t(host.size())) {
  if (values != nullptr)
    for_each_element(shape, placement.strides, [&](int64_t at, int64_t index) {
      encode((*values)[size_t(index)], dtype, &host[offset_of(at)]);
    });
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(device.as(), host.data(), host.size(), cudaMemcpyHostToDevice));
}

size_t DeviceTensor::offset_of(int64_t element) const {
  return size_t((guard_elements + element) * element_bytes(dtype));
}

void* DeviceTensor::data() const {
  return device.as<unsigned char>() + offset_of(0);
}

std::vector<float> DeviceTensor::read_back(bool& untouched) {
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(host.data(), device.as(), host.size(), cudaMemcpyDeviceToHost));
  std::vector<float> values(size_t(shape.batch * shape.heads * shape.length * shape.head_dim));
  for_each_element(shape, placement.strides, [&](int64_t at, int64_t index) {
    unsigned char* const element = &host[offset_of(at)];
    values[size_t(index)] = decode(element, dtype);
    std::memset(element, poison_byte, size_t(element_bytes(dtype)));
  });
  for (const unsigned char byte : host) untouched &= byte == poison_byte;
  return values;
}

std::vector<float> random_elements(int64_t count, ElementType dtype, float spread,
                                   std::mt19937_64& generator) {
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = representable(normal(generator), dtype);
  return values;
}

float representable(float value, ElementType dtype) {
  unsigned char bytes[sizeof(float)];
  encode(value, dtype, bytes);
  return decode(bytes, dtype);
}

}  // namespace sawtooth::kernels
