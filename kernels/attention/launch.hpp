// A launch of a kernel of the variant table, of whatever family: prepared once, enqueued as often
// as wanted.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include <cuda.h>

#include "kernels/attention/attention.hpp"
#include "kernels/attention/variants.hpp"
#include "kernels/mma/arguments.hpp"

namespace sawtooth::kernels {

/// A failed call of CUDA as an outcome: `no_device` where there is none, or none that this build
/// has code for, else `launch_failed`.
Outcome failed(const std::string& what, int cuda_error);

/// What `run` returns, with device `number` as the thread's while it runs.
Outcome on_device(int number, const std::function<Outcome()>& run);

/// Allows the variant's kernels their shared memory on `device`, which is the thread's.
/// `shared_bytes` become those of a CTA that needs `needed`, with at most `ctas_per_sm` of them on
/// an SM at once (0: all that fit).
Outcome prepare_kernel(const KernelVariant& variant, int needed, int ctas_per_sm,
                       const DeviceLimits& device, std::size_t& shared_bytes);

/// CTAs of a launch of `items` items.
unsigned ctas_of(const Schedule& schedule, int64_t items);

/// On the thread's device, a kernel that is prepared: `function` is one of the variant's.
Outcome enqueue_kernel(const KernelVariant& variant, const void* function, unsigned ctas,
                       std::size_t shared_bytes, void** parameters, CUstream_st* stream);

/// A tensor of a call, and what the copy engine loads of it at a time.
struct MappedTensor {
  const void* data;
  int64_t heads;
  int64_t rows;
  int64_t columns;
  const Strides& strides;
  const BoxExtent& box;
};

/// What is laid out as O, with its strides and box.
struct LikeO {
  const void* data;
  const Strides& strides;
  const BoxExtent& box;
};

/// Q, K and V of a launch of either pass, and O or dO.
template <class Arguments>
std::array<MappedTensor, 4> mapped_tensors(const KernelVariant& variant, const Arguments& a,
                                           const LikeO& like_o) {
  const Problem& p = a.problem;
  return {{{a.q, p.heads, p.seq_q, p.head_dim, a.q_strides, variant.q_box},
           {a.k, p.kv_heads, p.seq_kv, p.head_dim, a.k_strides, variant.kv_box},
           {a.v, p.kv_heads, p.seq_kv, p.v_dim(), a.v_strides, variant.kv_box},
           {like_o.data, p.heads, p.seq_q, p.v_dim(), like_o.strides, like_o.box}}};
}

/// `launch_failed` with the driver's reason where it makes no tensor map.
Outcome make_map(const KernelVariant& variant, const Problem& problem, const MappedTensor& tensor,
                 CUtensorMap& map);

/// All that a launch needs beside its stream.
struct PreparedLaunch {
  const KernelVariant* variant = nullptr;
  unsigned ctas = 0;
  std::size_t shared_bytes = 0;
  std::array<CUtensorMap, 4> maps{};  // of Q, K, V and O, as far as the copy engine moves them
  // The kernel for packed sequences runs where there are any; the others take the part that they
  // know.
  PackedArguments arguments;
  BlockLists lists;        // of a mask that is lists
  RunningResults running;  // where its O is not null, the kernel for them runs

  bool packed() const { return arguments.sequences != nullptr; }
};

/// For arguments whose schedule the kernel knows, on `device`, which is the thread's: with at most
/// `ctas_per_sm` CTAs on an SM at once (0: all that fit). `launch_failed` with the driver's reason
/// where it makes no tensor map.
Outcome prepare_launch(const KernelVariant& variant, const ForwardArguments& arguments,
                       int ctas_per_sm, const DeviceLimits& device, PreparedLaunch& launch);
/// The same over packed sequences, whose tables are made.
Outcome prepare_launch(const KernelVariant& variant, const PackedArguments& arguments,
                       int ctas_per_sm, const DeviceLimits& device, PreparedLaunch& launch);

/// On the thread's device; any number of threads may enqueue one launch.
Outcome enqueue(const PreparedLaunch& launch, CUstream_st* stream);

// What a call hands to its kernel.

/// The call passes `check`; arguments are in tiles of `tiling` and under a schedule with nothing
/// left automatic, with a workspace of workspace_bytes(call).
ForwardArguments arguments_of(const AttentionForward& call, const Tiling& tiling,
                              const Schedule& schedule, char* workspace);

/// The call has running results.
RunningResults running_of(const AttentionForward& call);

}  // namespace sawtooth::kernels
