// What a workspace, a plan and a graph keep from one launch to the next, on a GPU.
#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/kernels/calls.hpp"
#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

using PlansOnGpu = OnGpu;

/// A call with tensors, output and workspace of its own, contiguous.
struct Launchable {
  AttentionForward call;
  int64_t elements = 0;
  DeviceBuffer q, k, v, o, lse, workspace;

  explicit Launchable(const AttentionForward& wanted, uint64_t seed = 1) : call(wanted) {
    const Problem& problem = call.problem;
    elements = problem.batch * problem.heads * problem.seq_q * problem.head_dim;
    const int64_t keys = problem.batch * problem.kv_heads * problem.seq_kv * problem.head_dim;
    const int64_t bytes = element_bytes(problem.dtype);
    q = random(elements * bytes, seed);
    k = random(keys * bytes, seed + 1);
    v = random(keys * bytes, seed + 2);
    o = DeviceBuffer(elements * bytes);
    lse = DeviceBuffer(elements / problem.head_dim * int64_t(sizeof(float)));
    call.q = q.as();
    call.k = k.as();
    call.v = v.as();
    call.o = o.as();
    call.lse = lse.as<float>();
    workspace = DeviceBuffer(int64_t(workspace_bytes(call)));
    SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), 0, size_t(workspace.bytes())));
    poison();
  }

  void poison() const {
    SAWTOOTH_CUDA_CHECK(cudaMemset(o.as(), 0xff, size_t(o.bytes())));  // NaN
    SAWTOOTH_CUDA_CHECK(cudaMemset(lse.as(), 0xff, size_t(lse.bytes())));
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  Outcome launch(CUstream_st* stream = nullptr) const {
    return attention_forward(call, workspace.as(), size_t(workspace.bytes()), stream);
  }
  AttentionPlan plan() const {
    AttentionPlan made;
    const Outcome outcome = made.make(call, workspace.as(), size_t(workspace.bytes()));
    EXPECT_EQ(outcome.message, "");
    return made;
  }
  /// O and lse, bit by bit, once all work is done; both are NaN afterwards.
  std::vector<uint16_t> bits() const {
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<uint16_t> found(size_t(o.bytes() + lse.bytes()) / 2);
    SAWTOOTH_CUDA_CHECK(cudaMemcpy(found.data(), o.as(), size_t(o.bytes()), cudaMemcpyDefault));
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(found.data() + o.bytes() / 2, lse.as(), size_t(lse.bytes()), cudaMemcpyDefault));
    poison();
    return found;
  }

 private:
  /// bf16 values in (-2, 2), which are fp16 values in (-2, 2) too, and in pairs fp32 values.
  static DeviceBuffer random(int64_t bytes, uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::vector<uint16_t> host(static_cast<size_t>(bytes / 2));
    for (uint16_t& one : host) {
      const uint64_t word = generator();
      one = uint16_t((word & 0x807f) | (0x3f80 - ((word >> 16) % 3) * 0x80));
    }
    DeviceBuffer buffer(bytes);
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(buffer.as(), host.data(), size_t(buffer.bytes()), cudaMemcpyDefault));
    return buffer;
  }
};

AttentionForward plain_call(int64_t seq, MaskKind mask) {
  AttentionForward call;
  call.problem = {.batch = 2,
                  .heads = 4,
                  .kv_heads = 2,
                  .seq_q = seq,
                  .seq_kv = seq,
                  .head_dim = 64,
                  .dtype = ElementType::bf16,
                  .mask = {mask, 0}};
  return call;
}

TEST_F(PlansOnGpu, APlainCallAgreesWithTheReference) {
  for (const int64_t head_dim : {32, 64, 96, 128, 256})
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
      for (const int64_t seq : {1, 300, 2100}) {
        RandomPoint point;
        point.call = plain_call(seq, mask);
        point.call.problem.seq_q = std::min<int64_t>(seq, 300);  // the reference is slow
        point.call.problem.mask.window = 100;
        point.call.problem.head_dim = head_dim;
        if (find_variant(head_dim, ElementType::bf16, {0, 0}) == nullptr) continue;
        const AttentionInputs inputs = random_inputs(point.call.problem, 5, 1.0f);
        const AttentionResults results =
            run_attention(point.call, inputs, Layout::contiguous, false);
        EXPECT_EQ(judge_point(point, inputs, results), "") << head_dim << ", " << seq;
      }
}

TEST_F(PlansOnGpu, ThreadsRunAPlanOneAfterAnotherAndPlansAtOnce) {
  constexpr int threads = 4, runs = 200;
  std::vector<Launchable> calls;
  std::vector<std::vector<uint16_t>> expected;
  std::vector<AttentionPlan> plans;
  for (int i = 0; i < threads; ++i) {
    calls.emplace_back(plain_call(300 + 64 * i, MaskKind::causal), uint64_t(i));
    ASSERT_EQ(calls.back().launch().message, "");
    expected.push_back(calls.back().bits());
    plans.push_back(calls.back().plan());
  }
  std::vector<int> failures(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      cudaStream_t stream;
      failures[size_t(i)] +=
          cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
      for (int run = 0; run < runs; ++run) {
        failures[size_t(i)] += !plans[size_t(i)].run(i == 0 ? nullptr : stream);
        // The first plan is everybody's: on the default stream its runs follow each other.
        failures[size_t(i)] += !plans[0].run(nullptr);
      }
      failures[size_t(i)] += cudaStreamSynchronize(stream) != cudaSuccess;
      cudaStreamDestroy(stream);
    });
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(failures, std::vector<int>(threads, 0));
  for (int i = 0; i < threads; ++i) EXPECT_EQ(calls[size_t(i)].bits(), expected[size_t(i)]) << i;
}

TEST_F(PlansOnGpu, CallsAndPlansAreCapturedIntoGraphs) {
  for (const KernelVariant& variant : kernel_variants()) {
    if (!runs_here(variant)) continue;
    AttentionForward call = plain_call(500, MaskKind::causal);
    set_variant(call, variant);
    for (const LaunchId launch : {launch_id<StaticLaunch>, launch_id<DynamicLaunch>}) {
      call.schedule.launch = launch;
      const Launchable one(call);
      ASSERT_EQ(one.launch().message, "");
      const std::vector<uint16_t> expected = one.bits();
      const AttentionPlan plan = one.plan();
      cudaStream_t stream;
      cudaGraph_t graph;
      cudaGraphExec_t executable;
      SAWTOOTH_CUDA_CHECK(cudaStreamCreate(&stream));
      SAWTOOTH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      EXPECT_EQ(one.launch(stream).message, "");
      EXPECT_EQ(plan.run(stream).message, "");
      SAWTOOTH_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
      SAWTOOTH_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
      for (int run = 0; run < 2; ++run) {
        SAWTOOTH_CUDA_CHECK(cudaGraphLaunch(executable, stream));
        EXPECT_EQ(one.bits(), expected) << variant.family << " " << variant.name;
      }
      cudaGraphExecDestroy(executable);
      cudaGraphDestroy(graph);
      cudaStreamDestroy(stream);
    }
  }
}

TEST_F(PlansOnGpu, APlanRunsOnItsDeviceWhateverTheCurrentOneIs) {
  int devices = 0;
  SAWTOOTH_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "one GPU only";
  std::vector<Launchable> calls;
  std::vector<std::vector<uint16_t>> expected;
  std::vector<AttentionPlan> plans;
  for (int device = 0; device < 2; ++device) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    calls.emplace_back(plain_call(700, MaskKind::causal));
    ASSERT_EQ(calls.back().launch().message, "");
    expected.push_back(calls.back().bits());
    plans.push_back(calls.back().plan());
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
  for (int device = 0; device < 2; ++device)
    EXPECT_EQ(plans[size_t(device)].run(nullptr).message, "");
  int here = -1;
  SAWTOOTH_CUDA_CHECK(cudaGetDevice(&here));
  EXPECT_EQ(here, 0);
  for (int device = 0; device < 2; ++device) {
    SAWTOOTH_CUDA_CHECK(cudaSetDevice(device));
    EXPECT_EQ(calls[size_t(device)].bits(), expected[size_t(device)]);
  }
  SAWTOOTH_CUDA_CHECK(cudaSetDevice(0));
}

TEST_F(PlansOnGpu, WithoutKeysOIsZeroAndTheLogSumExpMinusInfinity) {
  AttentionForward call = plain_call(100, MaskKind::causal);
  const Launchable one(call);
  AttentionForward without = one.call;
  without.problem.seq_kv = 0;
  without.q = without.k = without.v = nullptr;
  ASSERT_EQ(attention_forward(without, nullptr, 0, nullptr).message, "");
  const std::vector<uint16_t> found = one.bits();
  const auto o_end = found.begin() + one.elements;
  EXPECT_EQ(std::count(found.begin(), o_end, 0), one.elements);
  const std::vector<uint16_t> minus_infinity{0x0000, 0xff80};  // the halves of a float
  for (auto at = o_end; at != found.end(); at += 2)
    ASSERT_EQ(std::vector<uint16_t>(at, at + 2), minus_infinity);
}

}  // namespace
}  // namespace sawtooth::kernels
