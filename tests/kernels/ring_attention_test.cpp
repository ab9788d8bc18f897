// Ring attention against the reference: of ranks that share one GPU, and of all GPUs that are here.
#include "kernels/ring/ring_attention.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/common/device_buffer.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_points.hpp"
#include "tests/kernels/ring_on_gpu.hpp"

namespace sawtooth::kernels {
namespace {

using RingOnGpu = OnRingGpus;

/// The rows of a rank, [heads, rank rows, dim], from the whole tensor.
std::vector<uint16_t> rows_of(const std::vector<float>& whole, const Ring& ring, int64_t rank,
                              int64_t heads, int64_t dim) {
  std::vector<uint16_t> part;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < ring.rank_rows(); ++row) {
      const float* from = whole.data() + (head * ring.seq + ring.sequence_row(rank, row)) * dim;
      for (int64_t d = 0; d < dim; ++d) part.push_back(bf16_bits(from[d]));
    }
  return part;
}

void expect_ring_equals_reference(const RingShape& shape, RingLayout layout, MaskKind mask,
                                  const char* family, const std::vector<int>& devices) {
  SCOPED_TRACE(std::string(family) + ", ranks " + std::to_string(shape.ranks) + ", chunk " +
               std::to_string(shape.chunk) + ", dim " + std::to_string(shape.head_dim) +
               ", layout " + std::to_string(int(layout)) + ", mask " + std::to_string(int(mask)));
  RingProblem problem;
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
           .mask = {mask, 0}};
  const AttentionInputs inputs = random_inputs(whole, uint64_t(shape.chunk), 1.0f);
  const double scale = 1 / std::sqrt(double(whole.head_dim));
  const ReferenceResult reference = plain_reference(whole, scale, inputs.q, inputs.k, inputs.v);
  RingAttention attention(problem);
  const auto copy = [](void* to, const std::vector<uint16_t>& from) {
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(to, from.data(), from.size() * 2, cudaMemcpyDefault));
  };
  for (int rank = 0; rank < ring.ranks; ++rank) {
    copy(attention.q(rank), rows_of(inputs.q, ring, rank, whole.heads, whole.head_dim));
    copy(attention.k(rank), rows_of(inputs.k, ring, rank, whole.kv_heads, whole.head_dim));
    copy(attention.v(rank), rows_of(inputs.v, ring, rank, whole.kv_heads, whole.head_dim));
  }
  attention.run();
  attention.run();  // finds what the first has left, as a training step does
  double difference = 0, norm = 0;
  for (int rank = 0; rank < ring.ranks; ++rank) {
    const int64_t rows = ring.rank_rows();
    std::vector<uint16_t> o(size_t(whole.heads * rows * whole.head_dim));
    std::vector<float> lse(size_t(whole.heads * rows));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(o.data(), attention.o(rank), o.size() * 2, cudaMemcpyDefault));
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(lse.data(), attention.lse(rank), lse.size() * sizeof lse[0], cudaMemcpyDefault));
    for (int64_t i = 0; i < whole.heads * rows; ++i) {
      const int64_t at = i / rows * ring.seq + ring.sequence_row(rank, i % rows);
      ASSERT_NEAR(lse[size_t(i)], reference.lse[size_t(at)], 2e-3);
      for (int64_t d = 0; d < whole.head_dim; ++d) {
        const double expected = reference.o[size_t(at * whole.head_dim + d)];
        const double got = bf16_value(o[size_t(i * whole.head_dim + d)]);
        difference += (got - expected) * (got - expected);
        norm += expected * expected;
      }
    }
  }
  EXPECT_LE(std::sqrt(difference / norm), allowed_error(ElementType::bf16));
}

TEST_F(RingOnGpu, EqualsTheReferenceForRanksThatShareOneDevice) {
  for (const char* family : {"mma", "hopper"})
    for (const int64_t dim : {64, 128}) {
      const KernelVariant* variant = find_variant(dim, ElementType::bf16, {0, 0}, family);
      if (variant == nullptr || !runs_here(*variant)) continue;  // not of this build or device
      for (const RingLayout layout : {RingLayout::plain, RingLayout::zigzag})
        for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
          for (const RingShape& shape : {RingShape{1, 100, 2, 1, dim}, RingShape{2, 130, 2, 2, dim},
                                         RingShape{3, 67, 4, 2, dim}, RingShape{4, 65, 2, 1, dim}})
            expect_ring_equals_reference(shape, layout, mask, family,
                                         std::vector<int>(size_t(shape.ranks), 0));
    }
}

TEST_F(RingOnGpu, EqualsTheReferenceOverAllDevices) {
  int devices = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "one GPU alone";
  std::vector<int> numbers;
  for (int device = 0; device < devices; ++device) numbers.push_back(device);
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
    expect_ring_equals_reference({devices, 200, 2, 1, 128}, RingLayout::zigzag, mask, "mma",
                                 numbers);
}

}  // namespace
}  // namespace sawtooth::kernels
