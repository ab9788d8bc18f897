// Ring attention against the reference, forward and backward: of ranks that share one GPU, and of
// all GPUs that are here.
#include "kernels/ring/ring_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/backward_points.hpp"
#include "tests/kernels/calls.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

struct RingShape {
  int64_t ranks, chunk, heads, kv_heads, head_dim;
};

struct Point {
  Pass pass;
  RingShape shape;
  RingLayout layout;
  MaskKind mask;
  const char* family;
  std::vector<int> devices;
  bool step_by_step;
};

uint16_t bf16_bits(float value) {  // bf16 values only
  uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return uint16_t(word >> 16);
}
float bf16_value(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

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

/// What a rank has of a result, into the whole.
void take(const Ring& ring, int rank, int64_t heads, int64_t dim, const void* from,
          std::vector<float>& whole) {
  std::vector<uint16_t> part(size_t(heads * ring.rank_rows() * dim));
  SAWTOOTH_CUDA_CHECK(cudaMemcpy(part.data(), from, part.size() * 2, cudaMemcpyDefault));
  for_each_element(ring, rank, heads, dim,
                   [&](size_t own, size_t all) { whole[all] = bf16_value(part[own]); });
}

/// Twice, as the second pass finds what the first has left; or step by step.
template <class Attention>
void run_passes(Attention& attention, int ranks, bool step_by_step) {
  if (!step_by_step) {
    attention.run();
    attention.run();
    return;
  }
  for (int64_t step = 0; step < ranks; ++step)
    for (int rank = 0; rank < ranks; ++rank) attention.run_step(step, {rank});
  for (int rank = 0; rank < ranks; ++rank) attention.finish({rank});
}

void expect_forward(const RingProblem& problem, const Point& point) {
  const Ring& ring = problem.ring;
  const Problem& whole = problem.call.problem;
  const int64_t dim = whole.head_dim;
  const AttentionInputs inputs = random_inputs(whole, uint64_t(point.shape.chunk), 1.0f);
  const double scale = 1 / std::sqrt(double(dim));
  const ReferenceResult reference = plain_reference(whole, scale, inputs.q, inputs.k, inputs.v);
  RingAttention attention(problem);
  for (int rank = 0; rank < ring.ranks; ++rank) {
    give(ring, rank, whole.heads, dim, inputs.q, attention.tensors(rank).q);
    give(ring, rank, whole.kv_heads, dim, inputs.k, attention.tensors(rank).k);
    give(ring, rank, whole.kv_heads, dim, inputs.v, attention.tensors(rank).v);
  }
  run_passes(attention, int(ring.ranks), point.step_by_step);
  std::vector<float> o(reference.o.size());
  for (int rank = 0; rank < ring.ranks; ++rank) {
    take(ring, rank, whole.heads, dim, attention.tensors(rank).o, o);
    std::vector<float> lse(size_t(whole.heads * ring.rank_rows()));
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(lse.data(), attention.tensors(rank).lse,
                                   lse.size() * sizeof lse[0], cudaMemcpyDefault));
    for_each_element(ring, rank, whole.heads, 1, [&](size_t own, size_t all) {
      EXPECT_NEAR(lse[own], reference.lse[all], 2e-3);
    });
  }
  EXPECT_LE(gradient_error(o, reference.o), allowed_error(ElementType::bf16));
}

void expect_backward(const RingBackwardProblem& problem, const Point& point) {
  const Ring& ring = problem.ring;
  const Problem& whole = problem.call.problem;
  const int64_t dim = whole.head_dim;
  const double scale = 1 / std::sqrt(double(dim));
  const BackwardInputs inputs = random_backward_inputs(whole, scale, uint64_t(point.shape.chunk));
  const AttentionInputs& forward = inputs.forward;
  const ReferenceGradients reference =
      plain_gradients(whole, scale, forward.q, forward.k, forward.v, inputs.d_o);
  RingAttentionBackward attention(problem);
  for (int rank = 0; rank < ring.ranks; ++rank) {
    give(ring, rank, whole.heads, dim, forward.q, attention.tensors(rank).q);
    give(ring, rank, whole.heads, dim, inputs.o, attention.tensors(rank).o);
    give(ring, rank, whole.heads, dim, inputs.d_o, attention.tensors(rank).d_o);
    give(ring, rank, whole.kv_heads, dim, forward.k, attention.tensors(rank).k);
    give(ring, rank, whole.kv_heads, dim, forward.v, attention.tensors(rank).v);
    std::vector<float> lse(size_t(whole.heads * ring.rank_rows()));
    for_each_element(ring, rank, whole.heads, 1,
                     [&](size_t own, size_t all) { lse[own] = inputs.lse[all]; });
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(attention.tensors(rank).lse, lse.data(),
                                   lse.size() * sizeof lse[0], cudaMemcpyDefault));
  }
  run_passes(attention, int(ring.ranks), point.step_by_step);
  std::vector<float> dq(reference.dq.size()), dk(reference.dk.size()), dv(reference.dv.size());
  for (int rank = 0; rank < ring.ranks; ++rank) {
    take(ring, rank, whole.heads, dim, attention.tensors(rank).dq, dq);
    take(ring, rank, whole.kv_heads, dim, attention.tensors(rank).dk, dk);
    take(ring, rank, whole.kv_heads, dim, attention.tensors(rank).dv, dv);
  }
  EXPECT_LE(gradient_error(dq, reference.dq), allowed_gradient_error(whole.dtype));
  EXPECT_LE(gradient_error(dk, reference.dk), allowed_gradient_error(whole.dtype));
  EXPECT_LE(gradient_error(dv, reference.dv), allowed_gradient_error(whole.dtype));
}

template <class RingOf>
RingOf problem_of(const Point& point) {
  RingOf problem;
  problem.ring = {point.shape.ranks, point.layout, point.mask, 0};
  problem.ring.seq = point.shape.chunk * problem.ring.chunks();
  problem.devices = point.devices;
  problem.call.family = point.family;
  problem.call.problem = {.heads = point.shape.heads,
                          .kv_heads = point.shape.kv_heads,
                          .seq_q = problem.ring.seq,
                          .seq_kv = problem.ring.seq,
                          .head_dim = point.shape.head_dim,
                          .pass = point.pass,
                          .mask = {point.mask, 0}};
  return problem;
}

void expect_reference(const Point& point) {
  SCOPED_TRACE(std::string(point.family) + ", ranks " + std::to_string(point.shape.ranks) +
               ", chunk " + std::to_string(point.shape.chunk) + ", dim " +
               std::to_string(point.shape.head_dim) + ", layout " +
               std::to_string(int(point.layout)) + ", mask " + std::to_string(int(point.mask)));
  if (point.pass == Pass::forward)
    expect_forward(problem_of<RingProblem>(point), point);
  else
    expect_backward(problem_of<RingBackwardProblem>(point), point);
}

/// Whether this build has a kernel of the pass and family for the head dim that runs here.
bool runs(Pass pass, const char* family, int64_t dim) {
  return std::ranges::any_of(pass == Pass::forward ? kernel_variants() : backward_variants(),
                             [&](const KernelVariant& variant) {
                               return variant.family == std::string_view(family) &&
                                      variant.head_dim == dim &&
                                      variant.dtype == ElementType::bf16 && runs_here(variant);
                             });
}

class RingOnGpu : public OnGpu, public testing::WithParamInterface<Pass> {};

TEST_P(RingOnGpu, EqualsTheReferenceForRanksThatShareOneDevice) {
  for (const char* family : {families::mma, families::hopper})
    for (const int64_t dim : {64, 128}) {
      if (!runs(GetParam(), family, dim)) continue;  // not of this build or device
      for (const RingLayout layout : {RingLayout::plain, RingLayout::zigzag})
        for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
          for (const RingShape& shape : {RingShape{1, 100, 2, 1, dim}, RingShape{2, 130, 2, 2, dim},
                                         RingShape{3, 67, 4, 2, dim}, RingShape{4, 65, 2, 1, dim}})
            expect_reference({GetParam(), shape, layout, mask, family,
                              std::vector<int>(size_t(shape.ranks), 0),
                              GetParam() == Pass::backward && shape.ranks == 3});
    }
}

TEST_P(RingOnGpu, EqualsTheReferenceOverAllDevices) {
  int devices = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "one GPU alone";
  std::vector<int> numbers;
  for (int device = 0; device < devices; ++device) numbers.push_back(device);
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
    expect_reference({GetParam(),
                      {devices, 200, 2, 1, 128},
                      RingLayout::zigzag,
                      mask,
                      families::mma,
                      numbers,
                      false});
}

INSTANTIATE_TEST_SUITE_P(Passes, RingOnGpu, testing::Values(Pass::forward, Pass::backward),
                         [](const auto& pass) {
                           return pass.param == Pass::forward ? "Forward" : "Backward";
                         });

}  // namespace
}  // namespace sawtooth::kernels
