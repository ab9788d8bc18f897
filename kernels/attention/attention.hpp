// Attention forward as a library call: O = softmax(Q K^T * scale + mask) V on tensor cores, with
// the schedule as a parameter. No CUDA header is needed to include this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/attention/variants.hpp"
#include "kernels/common/block_lists.hpp"
#include "kernels/common/order_trace.hpp"
#include "kernels/common/strides.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace sawtooth::kernels {

/// The same values as enum sawtooth_status of the C API.
enum class Status : int {
  ok = 0,
  null_pointer = 1,
  bad_size = 2,
  unsupported_head_dim = 3,
  unsupported_type = 4,
  unsupported_tiling = 5,
  misaligned = 6,
  bad_schedule = 7,
  workspace_too_small = 8,
  no_device = 9,
  launch_failed = 10,
  bad_version = 11,
};

/// `message` says what is wrong and what is allowed; empty when all is well.
struct Outcome {
  Status status = Status::ok;
  std::string message;

  explicit operator bool() const { return status == Status::ok; }
};

/// How long L2 should keep what is loaded (PTX ISA, createpolicy).
enum class Eviction : uint8_t { normal, first, last };

struct CacheHints {
  Eviction q = Eviction::normal;
  Eviction k = Eviction::normal;
  Eviction v = Eviction::normal;
};

/// What stands for "automatic" in a schedule: chosen by shape and device
/// (kernels/attention/automatic.hpp).
inline constexpr int32_t automatic_policy = -1;
inline constexpr Schedule automatic_schedule{.order = {.section = 0, .q_order = {automatic_policy}},
                                             .launch = {automatic_policy},
                                             .scan = {automatic_policy},
                                             .workers = 0,
                                             .kv_split = 0};

/// What calls over different keys of the same rows share, for keys that come in parts (ring
/// attention): each adds its result in float, weighted by its log-sum-exp. Calls on one stream, or
/// otherwise one after another; no kv_split. The families mma and hopper have it.
struct Running {
  float* o = nullptr;         // strides as o; null: an ordinary call
  float* lse = nullptr;       // of batch b, head h and row i at (b heads + h) lse_head_rows + i
  int64_t lse_head_rows = 0;  // 0: seq_q
  bool begins = false;        // what lies there is overwritten, not added to
};

/// Sequences of different lengths, packed one after another (varlen): sequence b has rows q[b] to
/// q[b + 1] of Q and O, and rows kv[b] to kv[b + 1] of K and V; none is a sequence without rows.
/// Entries are batch + 1 from 0 on, in host memory, and read when the call is made or planned.
/// Tensors are [rows, heads, dim] where strides are zero, else by head and row, batch 0; lse is
/// [heads, rows]. The problem's lengths are not read. The launch is grid, static or dynamic,
/// without kv_split, prefetch, running results or a trace. The families mma and hopper have kernels
/// at head dims 64 and 128 (kernels/attention/variant_list.hpp). The workspace has tables of the
/// sequences: while a plan lives no other call may use it, and a call outside of plans cannot be
/// captured. Lengths of a plan that `may_change` are replaced by AttentionPlan::set_rows.
struct PackedRows {
  const int32_t* q = nullptr;  // null: one length
  const int32_t* kv = nullptr;
  SequenceOrderId order{SequenceOrders::index_of<LongestSequences>()};  // of the items
  // Then a launch has as many items as any lengths with as many rows can have: up to a void one a
  // sequence and head more, which takes an item's begin and end.
  bool may_change = false;
};

/// Device pointers, 16-byte aligned; strides in elements, multiples of 8, all zero for the
/// contiguous layout [batch, head, length, dim]. Sizes of 0: without a query there is nothing to
/// do; without a key O is 0 and lse -inf.
struct AttentionForward {
  Problem problem;
  Schedule schedule = automatic_schedule;
  Tiling tiling{0, 0};      // zeros: automatic
  std::string_view family;  // of the kernel: mma, mma-tma, hopper; empty: the fastest here
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // [batch, heads, seq_q]; may be null
  // What a mask of kind `listed` lets Q tiles see, in tiles of `tiling`, which is named then. Head
  // dims 64 and 128 take it, with the families and tiles of takes_lists() (variant_list.hpp),
  // without packed sequences and running results.
  BlockLists lists;
  PackedRows packed;
  Running running;  // then `lse` is null, and `o`, the sum so far rounded, may be
  Strides q_strides, k_strides, v_strides, o_strides;
  float scale = 0;  // of the scores, > 0; 0 stands for 1 / sqrt(head_dim)
  CacheHints hints;
  int ctas_per_sm =
      0;  // at most so many at once, by asking for more shared memory; 0: all that fit
  // The workspace's first workspace_state_bytes were zero once, and since then only calls of this
  // library used it, of whatever shape: spares a memset, some 3 us.
  bool workspace_starts_zero = false;
  OrderTrace trace;  // device memory; off when null
};

/// Checks everything that can be checked without a device: sizes, types, pointers, schedule.
Outcome check(const AttentionForward& call);

/// The state of launches has this size. It begins every workspace; launches leave it as zeros.
extern const std::size_t workspace_state_bytes;

/// Device memory that a launch on the current device needs beside its tensors: state, and what
/// pieces of the last wave and parts of kv-split leave. Defined for calls that pass `check`.
std::size_t workspace_bytes(const AttentionForward& call);

/// Enqueues the attention on `stream`, of the current device; does not wait. The workspace is
/// 16-byte aligned, and free for reuse when the stream has come to this point. What `check` refuses
/// launches nothing.
Outcome attention_forward(const AttentionForward& call, void* workspace, std::size_t bytes,
                          CUstream_st* stream);

/// A call that is checked and prepared once (kernel, attributes, tensor maps) and run many times,
/// by any thread and on any stream of its device; runs that may overlap need plans with workspaces
/// of their own. Tensors and workspace stay where they are.
class AttentionPlan {
 public:
  /// Replaces the plan, for the current device; a call that attention_forward refuses leaves it.
  Outcome make(const AttentionForward& call, void* workspace, std::size_t bytes);
  /// As attention_forward, whatever the current device is. A plan not made has nothing to do.
  Outcome run(CUstream_st* stream) const;

  /// A plan over packed sequences that may change takes other lengths of as many sequences, with as
  /// many rows of Q and of K and V as the plan was made for, or fewer. They hold for what comes
  /// behind it on `stream`, of runs as of replays of graphs that have captured one. Tables are made
  /// here and copied to the workspace, so that neither arguments nor CTAs of a launch change. lse
  /// stays [heads, rows that the plan was made for]. A stream that is captured is refused.
  Outcome set_rows(const int32_t* q, const int32_t* kv, CUstream_st* stream) const;

 private:
  std::shared_ptr<const struct PlannedCall> planned_;
};

/// Whether the current device is one that this variant runs on; false with no device.
bool runs_here(const KernelVariant& variant);

/// CTAs of this variant that an SM of the current device holds at once; 0 with no device.
int resident_ctas_per_sm(const KernelVariant& variant);

}  // namespace sawtooth::kernels
