// One attention forward problem: O = softmax(Q K^T * scale + mask) V for every batch and head.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

enum class ElementType : uint8_t { bf16, fp16, fp32 };

SAWTOOTH_HD constexpr int64_t element_bytes(ElementType type) {
  return type == ElementType::fp32 ? 4 : 2;
}

/// Q and O are [batch, heads, seq_q, head_dim], K and V [batch, kv_heads, seq_kv, head_dim];
/// heads is a multiple of kv_heads (GQA; kv_heads = 1 is MQA).
struct Problem {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t seq_q = 0;
  int64_t seq_kv = 0;
  int64_t head_dim = 64;
  ElementType dtype = ElementType::bf16;
  Mask mask{};

  SAWTOOTH_HD constexpr int64_t row_bytes() const { return head_dim * element_bytes(dtype); }
  SAWTOOTH_HD constexpr int64_t heads_per_kv_head() const { return heads / kv_heads; }
  SAWTOOTH_HD constexpr int64_t kv_head_of(int64_t head) const {
    return head / heads_per_kv_head();
  }
  /// Bytes of K and V together of one K/V head.
  SAWTOOTH_HD constexpr int64_t kv_head_bytes() const { return 2 * seq_kv * row_bytes(); }
};

}  // namespace sawtooth
