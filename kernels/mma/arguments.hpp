// What a launch hands to the forward kernels: one value in constant memory.
#pragma once

#include <cstdint>

#include "kernels/common/block_lists.hpp"
#include "kernels/common/order_trace.hpp"
#include "kernels/common/strides.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::kernels {

/// L2 cache policies of the loads, in the encoding of createpolicy
/// (kernels/attention/attention.cpp).
struct LoadPolicies {
  uint64_t q = 0;
  uint64_t k = 0;
  uint64_t v = 0;
};

struct ForwardArguments {
  static constexpr Pass pass = Pass::forward;
  Problem problem;
  Schedule schedule;
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // [batch, heads, seq_q]; null: not written
  Strides q_strides, k_strides, v_strides, o_strides;
  float scale_log2 = 1;  // scale * log2(e)
  LoadPolicies policies;
  // With kv_split > 1 these replace o and lse: [batch, heads, kv_split, seq_q, head_dim] and
  // [batch, heads, kv_split, seq_q].
  float* partial_o = nullptr;
  float* partial_lse = nullptr;
  // Pieces of the last wave under `balanced` leave this for each other.
  float* pieces = nullptr;
  // State of one launch, zero when it starts.
  unsigned long long* ticket = nullptr;  // dynamic: the next item
  int* attach_tiles = nullptr;           // attach: [batch, kv_heads], the tile last started
  unsigned* piece_arrivals = nullptr;    // balanced: of each warp's rows of an item
  OrderTrace trace;
};

/// The mask is lists of tiles, of every head alike; scans order places in them.
struct ListedArguments : ForwardArguments {
  BlockLists lists;
};

/// A sequence of a packed batch: its rows in the tensors of Q and O, and those of K and V.
struct PackedSequence {
  int64_t first_q = 0;
  int64_t first_kv = 0;
  int64_t seq_q = 0;
  int64_t seq_kv = 0;
};

/// The sequences have different lengths and are packed one after another (varlen). The problem's
/// lengths are the longest of each kind, strides of the batch 0, and the order is a list without
/// void items. lse is [heads, all rows of Q].
struct PackedArguments : ForwardArguments {
  const PackedSequence* sequences = nullptr;
  int64_t items = 0;   // of the order's list
  int64_t q_rows = 0;  // of all sequences
  // CUtensorMaps of Q, K and V, three a sequence, for kernels that load by the copy engine: each
  // ends where its sequence does, so that rows behind it arrive as zeros.
  const void* maps = nullptr;
};

/// The results of a kernel that has no earlier ones to add to.
struct OwnResults {};

/// What calls over different keys of the same rows leave for each other
/// (kernels/attention/attention.hpp). Then `lse` of the arguments is not written, and `o` may be
/// null.
struct RunningResults {
  float* o = nullptr;    // as o_strides say
  float* lse = nullptr;  // of a row of batch b and head h at (b heads + h) lse_head_rows + row
  int64_t lse_head_rows = 0;
  bool begins = false;  // nothing is there yet
};

}  // namespace sawtooth::kernels
