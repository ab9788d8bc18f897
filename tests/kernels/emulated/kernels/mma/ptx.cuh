// Stands in for kernels/mma/ptx.cuh on the CPU: what each instruction does by
// the PTX ISA, chapters "ldmatrix", "mma.m16n8k16" and "mma.m16n8k8" for who
// holds which element. Copies are done at once.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/kernels/emulated/cta.hpp"

namespace sawtooth::kernels {

inline uint32_t shared_address(const void* pointer) {
  return uint32_t(static_cast<const unsigned char*>(pointer) - emulated::cta.shared);
}

/// Lane l gets elements 2 (l % 4) and the next of row l / 4 of each matrix, or
/// of its transpose.
inline void load_matrices(uint32_t (&to)[4], uint32_t address, bool transposed) {
  emulated::Cta& cta = emulated::cta;
  auto& mailbox = cta.warp().mailbox;
  const int lane = cta.lane();
  mailbox[lane][0] = address;
  cta.wait_for_warp();
  for (int matrix = 0; matrix < 4; ++matrix) {
    uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const int first = lane / 4, second = lane % 4 * 2 + i;
      const int row = transposed ? second : first;
      const int column = transposed ? first : second;
      std::memcpy(&pair[i], cta.shared + mailbox[matrix * 8 + row][0] + column * 2, 2);
    }
    to[matrix] = uint32_t(pair[0]) | uint32_t(pair[1]) << 16;
  }
  cta.wait_for_warp();
}
inline void load_matrices(uint32_t (&to)[4], uint32_t address) {
  load_matrices(to, address, false);
}
inline void load_matrices_transposed(uint32_t (&to)[4], uint32_t address) {
  load_matrices(to, address, true);
}

inline int64_t read_anew(int64_t value) {
  return value;
}

inline void wait_for_threads(int number, int threads) {
  emulated::cta.wait_for_named(number, threads);
}

inline void store_32_bits(uint32_t to, uint32_t value) {
  std::memcpy(emulated::cta.shared + to, &value, sizeof value);
}

inline void copy_16_bytes(uint32_t to, const void* from, uint64_t) {
  std::memcpy(emulated::cta.shared + to, from, 16);
}
inline void copy_16_bytes_or_zero(uint32_t to, const void* from, uint64_t policy, bool valid) {
  if (valid)
    copy_16_bytes(to, from, policy);
  else
    std::memset(emulated::cta.shared + to, 0, 16);
}
inline void commit_copies() {}
template <int Pending>
void wait_for_copies() {}
inline void prefetch_to_l2(const void*) {}

inline void reduce_add(float* to, float value) {
  *to += value;
}
inline void reduce_add(float* to, float low, float high) {
  to[0] += low;
  to[1] += high;
}
inline void reduce_add(float* to, const float (&values)[4]) {
  for (int i = 0; i < 4; ++i) to[i] += values[i];
}

inline unsigned load_acquire(const unsigned* at) {
  return *at;
}
inline unsigned arrive(unsigned* at, unsigned most) {
  const unsigned before = *at;
  *at = before >= most ? 0 : before + 1;
  return before;
}
inline void store_release(unsigned* at, unsigned value) {
  *at = value;
}

inline float exp2_approximate(float x) {
  return std::exp2(x);
}
inline int thread_number() {
  return emulated::cta.thread();
}
inline uint32_t sm_number() {
  return 0;
}
inline uint64_t nanoseconds() {
  return 0;
}

inline float widened_bits(uint16_t bits, __nv_bfloat16) {
  return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
}
inline float widened_bits(uint16_t bits, __half) {
  return __half2float(__half(__half_raw{bits}));
}
inline uint16_t rounded_bits(float value, __nv_bfloat16) {
  return __nv_bfloat16_raw(__float2bfloat16_rn(value)).x;
}
inline uint16_t rounded_bits(float value, __half) {
  return __half_raw(__float2half_rn(value)).x;
}

// An element of fp32 is its own bits.
inline float widened_bits(float value, float) {
  return value;
}
inline float rounded_bits(float value, float) {
  return value;
}

/// Shows each lane of the warp what every lane has of A and B.
inline auto& exchanged(const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  auto& mailbox = emulated::cta.warp().mailbox;
  const int lane = emulated::cta.lane();
  std::memcpy(mailbox[lane], a, sizeof a);
  mailbox[lane][4] = b0;
  mailbox[lane][5] = b1;
  emulated::cta.wait_for_warp();
  return mailbox;
}

template <class Element>
struct TensorCore {
  static void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    const auto& mailbox = exchanged(a, b0, b1);
    const int lane = emulated::cta.lane();
    const auto half_of = [&](int owner, int number, int place) {
      return widened_bits(uint16_t(mailbox[owner][number] >> (16 * place)), Element());
    };
    const auto a_at = [&](int row, int k) {
      return half_of(row % 8 * 4 + k % 8 / 2, row / 8 + 2 * (k / 8), k % 2);
    };
    const auto b_at = [&](int k, int column) {
      return half_of(column * 4 + k % 8 / 2, 4 + k / 8, k % 2);
    };
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 16; ++k)
        c[i] += a_at(lane / 4 + i / 2 * 8, k) * b_at(k, lane % 4 * 2 + i % 2);
    emulated::cta.wait_for_warp();
  }
  static uint32_t pack(float low, float high) {
    return uint32_t(rounded_bits(low, Element())) | uint32_t(rounded_bits(high, Element())) << 16;
  }
};

/// Rounded towards zero, as tensor cores round their sums.
inline float cut_to_float(double sum) {
  const float nearest = float(sum);
  return std::abs(double(nearest)) > std::abs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
}

/// c += a b with a 16x8, b 8x8, c 16x8; of the numbers the upper 19 bits count.
inline void multiply_add_tf32(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const auto& mailbox = exchanged(a, b0, b1);
  const int lane = emulated::cta.lane();
  const auto number = [&](int owner, int place) {
    constexpr uint32_t upper_bits = 0xffffe000u;
    const uint32_t bits = mailbox[owner][place] & upper_bits;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + i / 2 * 8;
    const int column = lane % 4 * 2 + i % 2;
    double sum = double(c[i]);
    for (int k = 0; k < 8; ++k)
      sum += double(number(row % 8 * 4 + k % 4, row / 8 + 2 * (k / 4))) *
             double(number(column * 4 + k % 4, 4 + k / 4));
    c[i] = cut_to_float(sum);
  }
  emulated::cta.wait_for_warp();
}

}  // namespace sawtooth::kernels
