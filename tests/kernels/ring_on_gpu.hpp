// What tests of both passes of a ring on GPUs share: shapes, their fixture, and bf16 in host
// memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/device_attention.hpp"

namespace sawtooth::kernels {

struct RingShape {
  int64_t ranks, chunk, heads, kv_heads, head_dim;
};

/// Skips by name where there is no GPU.
class OnRingGpus : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (!device_available(reason)) GTEST_SKIP() << reason;
  }
};

inline uint16_t bf16_bits(float value) {  // bf16 values only
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return uint16_t(word >> 16);
}
inline float bf16_value(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace sawtooth::kernels
