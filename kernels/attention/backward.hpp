// Attention backward as a library call: dQ, dK and dV from dO and what the forward pass left, with
// the schedule as a parameter. No CUDA header is needed to include this one.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/attention/attention.hpp"

namespace sawtooth::kernels {

/// The kernels of a call, all of which run one after another unless said otherwise: `before` sums
/// dO * O over each row and clears the sums of dQ, `main` computes the gradients, `behind` turns
/// the sums into dQ. Under dq = separate `main` is two kernels, of dK and dV and of dQ, and there
/// are no sums. With kv_split `behind` also sums up the parts of dK and dV. Where one is left out,
/// what it leaves in the workspace must be there.
struct BackwardKernels {
  bool before = true;
  bool main = true;
  bool behind = true;
};

/// Device pointers and strides as in AttentionForward; the pass of `problem` is not read. Gradients
/// are laid out like what they are of, and need not be initialised. Sizes of 0: without a key dQ is
/// 0, without a query dK and dV are.
struct AttentionBackward {
  Problem problem;
  // No prefetch, no balanced. kv_split divides the heads that share a K/V head: an item has one
  // part of them, and another kernel sums up the dK and dV of all parts, which are in their type.
  Schedule schedule = automatic_schedule;
  Tiling tiling{0, 0};      // zeros: automatic
  std::string_view family;  // of the kernel: mma, hopper; empty: the fastest here
  const void *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *d_o = nullptr;
  const float* lse = nullptr;  // [batch, heads, seq_q], as the forward pass wrote it
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  Strides q_strides, k_strides, v_strides, o_strides, d_o_strides;
  Strides dq_strides, dk_strides, dv_strides;
  float scale = 0;                     // as of the forward pass; 0 stands for 1 / sqrt(head_dim)
  CacheHints hints;                    // dO is loaded like Q
  int ctas_per_sm = 0;                 // at most so many at once; 0: all that fit
  bool workspace_starts_zero = false;  // as in AttentionForward
  BackwardKernels kernels;
  OrderTrace trace;  // device memory; off when null
};

/// Checks everything that can be checked without a device.
Outcome check(const AttentionBackward& call);

/// Device memory that a launch on the current device needs beside its tensors: state, two numbers a
/// row and, unless dq is separate, the fp32 sums of dQ. Defined for calls that pass `check`.
std::size_t workspace_bytes(const AttentionBackward& call);

/// Enqueues the kernels on `stream`, of the current device; does not wait. What `check` refuses
/// launches nothing. Under dq = atomic the order of additions to dQ depends on time, and so do its
/// last bits; under `ordered` and `separate` a call gives the same bits every time, but with the
/// scans that depend on time: `attach`, and `sawtooth` under `dynamic`.
Outcome attention_backward(const AttentionBackward& call, void* workspace, std::size_t bytes,
                           CUstream_st* stream);

}  // namespace sawtooth::kernels
