// One attention problem: O = softmax(Q K^T * scale + mask) V for every batch and head, or its
// gradients dQ, dK and dV from dO.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/mask.hpp"

namespace sawtooth {

/// forward: items are Q tiles and scan K/V tiles. backward: items are K/V tiles and scan the Q
/// tiles that see them, head after head of their group or of a part of it.
enum class Pass : uint8_t { forward, backward };

/// int8 is a type of K and V alone, `as_q` their type where it is that of Q.
enum class ElementType : uint8_t { bf16, fp16, fp32, fp8, int8, as_q };

SAWTOOTH_HD constexpr int64_t element_bytes(ElementType type) {
  if (type == ElementType::fp8 || type == ElementType::int8) return 1;
  return type == ElementType::fp32 ? 4 : 2;
}

/// Q and K have rows of head_dim elements, V and O of v_dim(): Q is [batch, heads, seq_q,
/// head_dim], O [batch, heads, seq_q, v_dim], K [batch, kv_heads, seq_kv, head_dim], V [batch,
/// kv_heads, seq_kv, v_dim]; heads is a multiple of kv_heads (GQA; kv_heads = 1 is MQA). Gradients
/// are shaped like what they are of.
struct Problem {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads = 1;
  int64_t seq_q = 0;
  int64_t seq_kv = 0;
  int64_t head_dim = 64;
  ElementType dtype = ElementType::bf16;
  Pass pass = Pass::forward;
  ElementType kv_dtype = ElementType::as_q;
  bool kv_latent = false;  // V is the first v_dim() columns of K: a step reads K's rows for both
  int32_t head_dim_v = 0;  // 0: as head_dim
  Mask mask{};

  SAWTOOTH_HD constexpr int64_t v_dim() const { return head_dim_v > 0 ? head_dim_v : head_dim; }
  SAWTOOTH_HD constexpr int64_t kv_element_bytes() const {
    return element_bytes(kv_dtype == ElementType::as_q ? dtype : kv_dtype);
  }
  /// Bytes of a row of Q; where rows_alike(), of every tensor but sums in fp32.
  SAWTOOTH_HD constexpr int64_t row_bytes() const { return head_dim * element_bytes(dtype); }
  SAWTOOTH_HD constexpr int64_t k_row_bytes() const { return head_dim * kv_element_bytes(); }
  SAWTOOTH_HD constexpr int64_t v_row_bytes() const { return v_dim() * kv_element_bytes(); }
  /// O of fp8 has 16 bits, as FlashAttention-3 writes it.
  SAWTOOTH_HD constexpr int64_t o_row_bytes() const {
    return v_dim() * (dtype == ElementType::fp8 ? 2 : element_bytes(dtype));
  }
  SAWTOOTH_HD constexpr bool rows_alike() const {
    return !kv_latent && k_row_bytes() == row_bytes() && v_row_bytes() == row_bytes() &&
           o_row_bytes() == row_bytes();
  }
  SAWTOOTH_HD constexpr int64_t heads_per_kv_head() const { return heads / kv_heads; }
  SAWTOOTH_HD constexpr int64_t kv_head_of(int64_t head) const {
    return head / heads_per_kv_head();
  }
  /// Heads of a sequence that have items: query heads, of the backward pass K/V heads.
  SAWTOOTH_HD constexpr int64_t item_heads(Pass of) const {
    return of == Pass::forward ? heads : kv_heads;
  }
  /// Bytes of K and V together of one K/V head.
  SAWTOOTH_HD constexpr int64_t kv_head_bytes() const {
    return seq_kv * (k_row_bytes() + (kv_latent ? 0 : v_row_bytes()));
  }
  /// Bytes of Q, dO and the fp32 sums of dQ that the items of one K/V head scan.
  SAWTOOTH_HD constexpr int64_t gradient_head_bytes() const {
    constexpr int64_t float_bytes = 4;
    return heads_per_kv_head() * seq_q * (row_bytes() + o_row_bytes() + float_bytes * head_dim);
  }
  /// FLOP of a pair of a query row and a key, a product and a sum each: Q K^T and P V; of the
  /// backward pass S, dQ and dK over head_dim, dP and dV over v_dim().
  constexpr double flop_a_pair() const {
    const bool forward = pass == Pass::forward;
    return 2 * ((forward ? 1 : 3) * double(head_dim) + (forward ? 1 : 2) * double(v_dim()));
  }
};

}  // namespace sawtooth
