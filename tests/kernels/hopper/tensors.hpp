// Tensors of one problem of the Hopper check on the device, inputs random, and how a case is named.
#pragma once

#include <cmath>
#include <string>

#include "kernels/mma/arguments.hpp"
#include "tests/kernels/hopper/device_array.hpp"

namespace sawtooth::kernels::hopper {

enum class Layout { bhsd, bshd };

struct Case {
  Problem problem;
  Schedule schedule;
  Layout layout = Layout::bhsd;
};

/// Problem and schedule on one line.
std::string describe(const Case& c);

/// Tensors of one problem on the device, inputs random, outputs poisoned.
struct Tensors {
  Tensors(const Problem& problem, Layout layout, uint64_t seed);
  static double scale(const Problem& p) { return 1 / std::sqrt(double(p.head_dim)); }
  void reset_state() {
    CHECK_CUDA(
        cudaMemsetAsync(piece_arrivals.data, 0, size_t(piece_arrivals.size) * sizeof(unsigned)));
    CHECK_CUDA(cudaMemsetAsync(ticket.data, 0, sizeof(unsigned long long)));
    CHECK_CUDA(cudaMemsetAsync(attach.data, 0, size_t(attach.size) * sizeof(int)));
  }
  /// Whether the launch has left a ticket or an arrival that is not zero.
  bool state_is_dirty() const;
  DeviceArray<uint16_t> q, k, v, o;
  DeviceArray<float> lse;
  DeviceArray<unsigned long long> ticket;
  DeviceArray<int> attach;
  DeviceArray<float> pieces;
  DeviceArray<unsigned> piece_arrivals;
  ForwardArguments arguments;
};

}  // namespace sawtooth::kernels::hopper
