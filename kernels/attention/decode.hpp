// Attention of few queries against many keys as a library call: decode and speculative decoding,
// with sequences of their own lengths and K/V in pages. The query heads of a group share the rows
// of a tile, so that each K/V byte is read once; all CTAs have equal shares of the K/V work
// (scheduler/kv_shares.hpp). No CUDA header is needed to include this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/attention/attention.hpp"
#include "scheduler/kv_shares.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth::kernels {

/// K and V in pages: tensors [page_count, kv_heads, page_rows, dim] by the call's strides, whose
/// `batch` is from page to page. Key j of sequence b is row j mod page_rows of page
/// table[b table_stride + j / page_rows].
struct KvPages {
  const int32_t* table =
      nullptr;               // device memory; null: K and V are [batch, kv_heads, seq_kv, dim]
  int64_t table_stride = 0;  // entries from one sequence to the next
  int64_t page_rows = 0;     // 16, 32, 64, 128 or 256
  int64_t page_count = 0;
};

/// Device pointers, 16-byte aligned, tables and lse 4; strides in elements, multiples of 8, all
/// zero for the contiguous layout. `problem` has seq_q query positions of every sequence and at
/// most seq_kv keys; mask none, or causal: the last position sees all keys of its sequence, the one
/// before all but one. A sequence without a key has O 0 and lse -inf.
struct AttentionDecode {
  Problem problem;
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // [batch, heads, seq_q]; may be null
  Strides q_strides, k_strides, v_strides, o_strides;
  // Keys of each sequence, in device memory and read by the launch, so that a captured one follows
  // them; null: seq_kv each. Negative ones are 0, and those above seq_kv are seq_kv.
  const int32_t* lengths = nullptr;
  KvPages pages;
  // Cascade: the first keys of neighbouring sequences, a group, are those that the first of them
  // has in memory, and are read once for the rows of as many sequences as fit a tile
  // (scheduler/cascade.hpp). A multiple of the kernel's K/V tile and of page_rows; the rows of a
  // K/V head of a sequence fit one tile. Lengths that do not reach behind it (causal: by a key for
  // each query but one) are as long. 0 keys: none, though pages may still be shared.
  Prefix prefix;
  float scale = 0;                        // of the scores, > 0; 0 stands for 1 / sqrt(head_dim)
  std::string_view family;                // of the kernel: mma, mma-tma; empty: the fastest here
  int64_t workers = 0;                    // CTAs; 0: as many as are resident, or a few less
  std::optional<Eviction> kv_eviction{};  // empty: first where each byte is read once, else normal
  bool workspace_starts_zero = false;     // as AttentionForward's, and of the same workspaces
};

/// Checks everything that can be checked without a device.
Outcome check(const AttentionDecode& call);

/// A debug check of what lies in device memory: waits for `stream`, reads lengths and table and
/// refuses lengths that are negative or above seq_kv, and indices outside the pages.
Outcome check_tables(const AttentionDecode& call, CUstream_st* stream);

/// As of AttentionForward.
std::size_t workspace_bytes(const AttentionDecode& call);
Outcome attention_decode(const AttentionDecode& call, void* workspace, std::size_t bytes,
                         CUstream_st* stream);

/// As AttentionPlan. Lengths and table stay where they are, and may change from run to run.
class DecodePlan {
 public:
  Outcome make(const AttentionDecode& call, void* workspace, std::size_t bytes);
  Outcome run(CUstream_st* stream) const;

 private:
  std::shared_ptr<const struct PlannedDecode> planned_;
};

/// Packed query rows that the call's kernel is to hold in a tile, if any of its family does.
int64_t rows_wanted(const AttentionDecode& call);

/// The least keys of a sequence with the call's prefix; 0 without one.
int64_t least_keys(const AttentionDecode& call);

/// The decode kernels of this build; of a family and head dim those of fewer rows first.
std::span<const KernelVariant> decode_variants();
/// The same kernels for calls with a prefix.
std::span<const KernelVariant> cascade_variants();

/// The kernel that a call which passes `check` runs on the current device; null where none does.
const KernelVariant* decode_variant_of(const AttentionDecode& call);

}  // namespace sawtooth::kernels
