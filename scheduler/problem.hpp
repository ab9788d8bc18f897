// One attention problem: O = softmax(Q K^T * scale + mask) V for every batch and head, or its
// gradients dQ, dK and dV from dO.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

/// forward: items are Q tiles and scan K/V tiles. backward: items are K/V tiles and scan the Q
/// tiles that see them, head after head of their group.
enum class Pass : uint8_t { forward, backward };

enum class ElementType : uint8_t { bf16, fp16, fp32 };

SAWTOOTH_HD constexpr int64_t element_bytes(ElementType type) {
  return type == ElementType::fp32 ? 4 : 2;
}

/// Q and O are [batch, heads, seq_q, head_dim], K and V [batch, kv_heads, seq_kv, head_dim];
/// heads is a multiple of kv_heads (GQA; kv_heads = 1 is MQA). Gradients are shaped like what they
/// are of.
struct Problem {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t seq_q = 0;
  int64_t seq_kv = 0;
  int64_t head_dim = 64;
  ElementType dtype = ElementType::bf16;
  Pass pass = Pass::forward;
  Mask mask{};

  SAWTOOTH_HD constexpr int64_t row_bytes() const { return head_dim * element_bytes(dtype); }
  SAWTOOTH_HD constexpr int64_t heads_per_kv_head() const { return heads / kv_heads; }
  SAWTOOTH_HD constexpr int64_t kv_head_of(int64_t head) const {
    return head / heads_per_kv_head();
  }
  /// Heads of a sequence that have items: query heads, of the backward pass K/V heads.
  SAWTOOTH_HD constexpr int64_t item_heads(Pass of) const {
    return of == Pass::forward ? heads : kv_heads;
  }
  /// Bytes of K and V together of one K/V head.
  SAWTOOTH_HD constexpr int64_t kv_head_bytes() const { return 2 * seq_kv * row_bytes(); }
  /// Bytes of Q, dO and the fp32 sums of dQ that the items of one K/V head scan.
  SAWTOOTH_HD constexpr int64_t gradient_head_bytes() const {
    constexpr int64_t float_bytes = 4;
    return heads_per_kv_head() * seq_q * (2 * row_bytes() + float_bytes * head_dim);
  }
};

}  // namespace sawtooth
