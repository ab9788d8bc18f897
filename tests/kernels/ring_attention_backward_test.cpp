// The ring's gradients against the reference: of ranks that share one GPU, and of all GPUs that are
// here.
#include "kernels/ring/ring_attention_backward.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/variant_list.hpp"
#include "kernels/common/device_buffer.hpp"
#include "tests/kernels/backward_points.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_points.hpp"
#include "tests/kernels/ring_on_gpu.hpp"

namespace sawtooth::kernels {
namespace {

using RingBackwardOnGpu = OnRingGpus;

/// Calls visit(element of the rank, [heads, rank rows, dim], element of the whole).
template <class Visit>
void for_each_element(const Ring& ring, int64_t rank, int64_t heads, int64_t dim, Visit visit) {
  for (int64_t i = 0; i < heads * ring.rank_rows(); ++i) {
    const int64_t row =
        i / ring.rank_rows() * ring.seq + ring.sequence_row(rank, i % ring.rank_rows());
    for (int64_t d = 0; d < dim; ++d) visit(size_t(i * dim + d), size_t(row * dim + d));
  }
}

void give(const Ring& ring, int rank, int64_t heads, int64_t dim, const std::vector<float>& whole,
          void* to) {
  std::vector<uint16_t> part(size_t(heads * ring.rank_rows() * dim));
  for_each_element(ring, rank, heads, dim,
                   [&](size_t own, size_t all) { part[own] = bf16_bits(whole[all]); });
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(to, part.data(), part.size() * 2, cudaMemcpyDefault));
}

/// What a rank has of a gradient, into the whole.
void take(const Ring& ring, int rank, int64_t heads, int64_t dim, const void* from,
          std::vector<float>& whole) {
  std::vector<uint16_t> part(size_t(heads * ring.rank_rows() * dim));
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(part.data(), from, part.size() * 2, cudaMemcpyDefault));
  for_each_element(ring, rank, heads, dim,
                   [&](size_t own, size_t all) { whole[all] = bf16_value(part[own]); });
}

void expect_ring_equals_reference(const RingShape& shape, RingLayout layout, MaskKind mask,
                                  const char* family, const std::vector<int>& devices,
                                  bool step_by_step) {
  SCOPED_TRACE(std::string(family) + ", ranks " + std::to_string(shape.ranks) + ", chunk " +
               std::to_string(shape.chunk) + ", dim " + std::to_string(shape.head_dim) +
               ", layout " + std::to_string(int(layout)) + ", mask " + std::to_string(int(mask)));
  RingBackwardProblem problem;
  problem.ring = {shape.ranks, layout, mask, 0};
  problem.devices = devices;
  Ring& ring = problem.ring;
  ring.seq = shape.chunk * ring.chunks();
  problem.call.family = family;
  Problem& whole = problem.call.problem;
  whole = {.heads = shape.heads,
           .kv_heads = shape.kv_heads,
           .seq_q = ring.seq,
           .seq_kv = ring.seq,
           .head_dim = shape.head_dim,
           .pass = Pass::backward,
           .mask = {mask, 0}};
  const double scale = 1 / std::sqrt(double(whole.head_dim));
  const BackwardInputs inputs = random_backward_inputs(whole, scale, uint64_t(shape.chunk));
  const AttentionInputs& forward = inputs.forward;
  const ReferenceGradients reference =
      plain_gradients(whole, scale, forward.q, forward.k, forward.v, inputs.d_o);
  RingAttentionBackward attention(problem);
  const int64_t dim = whole.head_dim;
  for (int rank = 0; rank < ring.ranks; ++rank) {
    give(ring, rank, whole.heads, dim, forward.q, attention.q(rank));
    give(ring, rank, whole.heads, dim, inputs.o, attention.o(rank));
    give(ring, rank, whole.heads, dim, inputs.d_o, attention.d_o(rank));
    give(ring, rank, whole.kv_heads, dim, forward.k, attention.k(rank));
    give(ring, rank, whole.kv_heads, dim, forward.v, attention.v(rank));
    std::vector<float> lse(size_t(whole.heads * ring.rank_rows()));
    for_each_element(ring, rank, whole.heads, 1,
                     [&](size_t own, size_t all) { lse[own] = inputs.lse[all]; });
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(attention.lse(rank), lse.data(), lse.size() * sizeof lse[0], cudaMemcpyDefault));
  }
  if (step_by_step) {
    for (int64_t step = 0; step < ring.ranks; ++step)
      for (int rank = 0; rank < ring.ranks; ++rank) attention.run_step(step, {rank});
    for (int rank = 0; rank < ring.ranks; ++rank) attention.finish({rank});
  } else {
    attention.run();
    attention.run();  // finds what the first has left, as a training step does
  }
  std::vector<float> dq(reference.dq.size()), dk(reference.dk.size()), dv(reference.dv.size());
  for (int rank = 0; rank < ring.ranks; ++rank) {
    take(ring, rank, whole.heads, dim, attention.dq(rank), dq);
    take(ring, rank, whole.kv_heads, dim, attention.dk(rank), dk);
    take(ring, rank, whole.kv_heads, dim, attention.dv(rank), dv);
  }
  EXPECT_LE(gradient_error(dq, reference.dq), allowed_gradient_error(whole.dtype));
  EXPECT_LE(gradient_error(dk, reference.dk), allowed_gradient_error(whole.dtype));
  EXPECT_LE(gradient_error(dv, reference.dv), allowed_gradient_error(whole.dtype));
}

/// Whether this build has a backward kernel of the family for the head dim that runs here.
bool runs(const char* family, int64_t dim) {
  return std::ranges::any_of(backward_variants(), [&](const KernelVariant& variant) {
    return variant.family == std::string_view(family) && variant.head_dim == dim &&
           variant.dtype == ElementType::bf16 && (!variant.needs_device() || runs_here(variant));
  });
}

TEST_F(RingBackwardOnGpu, EqualsTheReferenceForRanksThatShareOneDevice) {
  for (const char* family : {"mma", "hopper"})
    for (const int64_t dim : {64, 128}) {
      if (!runs(family, dim)) continue;
      for (const RingLayout layout : {RingLayout::plain, RingLayout::zigzag})
        for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
          for (const RingShape& shape : {RingShape{1, 100, 2, 1, dim}, RingShape{2, 130, 2, 2, dim},
                                         RingShape{3, 67, 4, 2, dim}, RingShape{4, 65, 2, 1, dim}})
            expect_ring_equals_reference(shape, layout, mask, family,
                                         std::vector<int>(size_t(shape.ranks), 0),
                                         shape.ranks == 3);
    }
}

TEST_F(RingBackwardOnGpu, EqualsTheReferenceOverAllDevices) {
  int devices = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "one GPU alone";
  std::vector<int> numbers;
  for (int device = 0; device < devices; ++device) numbers.push_back(device);
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
    expect_ring_equals_reference({devices, 200, 2, 1, 128}, RingLayout::zigzag, mask, "mma",
                                 numbers, false);
}

}  // namespace
}  // namespace sawtooth::kernels
