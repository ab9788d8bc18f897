// Q, K, V and O of one problem in device memory, filled with random values, and for a backward pass
// dO and the gradients.
//
// Which lines share a set of L2 depends on the physical pages, so DRAM reads of one launch do too:
// near an edge by a factor of two (docs/models/halves.md). Pages are drawn, not chosen.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/sawtooth/inputs/point.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/common/device_buffer.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth::experiments {

struct AttentionTensors {
  /// Contiguous [batch, head, length, dim]; inputs of a fixed seed, O as the allocator left it.
  /// `placement` 0 takes the pages that the allocator gives; every other number leaves gaps of a
  /// drawn size before each tensor. Throws CudaError without a device or without memory.
  /// `kv_rows` of K and of V of each K/V head lie in all pages, 0: batch x seq_kv.
  explicit AttentionTensors(const Problem& problem, uint64_t placement = 0, int64_t kv_rows = 0);

  kernels::DeviceBuffer q, k, v, o;
  kernels::DeviceBuffer d_o, lse, dq, dk, dv;  // of a backward pass; forward has not run yet
};

/// Gives a call of any kind the tensors that it reads and writes; only a backward pass gets the
/// log-sum-exp.
template <class Call>
void give_tensors(const AttentionTensors& tensors, Call& call) {
  call.q = tensors.q.as();
  call.k = tensors.k.as();
  call.v = tensors.v.as();
  call.o = tensors.o.as();
  if constexpr (requires { call.d_o; }) {
    call.d_o = tensors.d_o.as();
    call.lse = tensors.lse.as<float>();
    call.dq = tensors.dq.as();
    call.dk = tensors.dk.as();
    call.dv = tensors.dv.as();
  }
}

/// Throws std::runtime_error where a call was not launched.
void require_launched(const kernels::Outcome& outcome);

/// Runs the forward pass of a backward problem, which leaves O and log-sum-exp in `tensors`, to its
/// end.
void run_forward(const AttentionTensors& tensors, Problem problem);

/// The point's K and V may lie in pages.
std::shared_ptr<const AttentionTensors> tensors_of(const Point& point, uint64_t placement = 0);

}  // namespace sawtooth::experiments
