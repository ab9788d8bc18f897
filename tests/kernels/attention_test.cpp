#include <cmath>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "kernels/common/device_buffer.hpp"
#include "tests/kernels/calls.hpp"
#include "tests/kernels/random_points.hpp"

namespace sawtooth::kernels {
namespace {

using AttentionOnGpu = OnGpu;

constexpr const char* families_with_head_dim_64[] = {"mma", "mma-tma", "mma-fp32", "hopper",
                                                     "hopper-short"};

/// The preferred variant of a family at D = 64, where it runs here, or null.
const KernelVariant* of_family(std::string_view family) {
  for (const KernelVariant& variant : kernel_variants())
    if (variant.family == family && variant.head_dim == 64)
      return runs_here(variant) ? &variant : nullptr;
  return nullptr;
}

// An order changes the order of additions only: results differ by roundings of the output and of
// the probabilities, a small part of what the reference allows.
TEST_F(AttentionOnGpu, GivesTheSameResultUnderEveryScheduleOfEveryFamily) {
  AttentionForward call;
  call.problem = {.batch = 1,
                  .heads = 2,
                  .kv_heads = 1,
                  .seq_q = 500,
                  .seq_kv = 700,
                  .head_dim = 64,
                  .mask = {MaskKind::causal, 0}};
  for (const char* family : families_with_head_dim_64) {
    call.family = family;
    call.schedule = {.workers = 3};
    const KernelVariant* variant = of_family(family);
    if (variant == nullptr) continue;  // not of this build or device
    call.problem.dtype = variant->dtype;
    const AttentionInputs inputs = random_inputs(call.problem, 3, 1.0f);
    const std::vector<float> base = run_attention(call, inputs, Layout::contiguous).o;
    for (int launch = 0; launch < Launches::size; ++launch)
      for (int scan = 0; scan < Scans::size; ++scan)
        for (const int64_t kv_split : {1, 3}) {
          call.schedule.launch = {launch};
          call.schedule.scan = {scan};
          call.schedule.kv_split = kv_split;
          if (cuts_last_wave(call.schedule) && !variant->merges_pieces) continue;
          const std::vector<float> other = run_attention(call, inputs, Layout::contiguous).o;
          double difference = 0, norm = 0;
          for (size_t i = 0; i < base.size(); ++i) {
            difference += std::pow(double(other[i]) - double(base[i]), 2);
            norm += std::pow(double(base[i]), 2);
          }
          EXPECT_LE(std::sqrt(difference / norm), allowed_error(variant->dtype))
              << family << ", launch " << launch << ", scan " << scan << ", split " << kv_split;
        }
  }
}

TEST_F(AttentionOnGpu, RunsTheSameScheduleTwiceWithTheSameBits) {
  for (const uint64_t seed : {1u, 5u, 9u}) {
    RandomPoint point = random_point(seed);
    point.call.schedule.scan = scan_id<SawtoothItemScan>;  // depends on nothing but the item
    const AttentionInputs inputs = random_inputs(point.call.problem, seed, 1.0f);
    const AttentionResults first = run_attention(point.call, inputs, point.layout);
    const AttentionResults second = run_attention(point.call, inputs, point.layout);
    EXPECT_EQ(first.o, second.o);
    EXPECT_EQ(first.lse, second.lse);
  }
}

/// A call on zeros, contiguous in device memory, with a workspace for two parts.
struct CallOnZeros {
  static constexpr int64_t most_bytes = 2 * 256 * 64 * int64_t(sizeof(float));
  DeviceBuffer tensor{most_bytes}, output{most_bytes}, workspace;
  AttentionForward call;

  explicit CallOnZeros(const KernelVariant& variant) {
    call.problem = {.heads = 2, .kv_heads = 2, .seq_q = 256, .seq_kv = 256};
    set_variant(call, variant);
    call.q = call.k = call.v = tensor.as();
    call.o = output.as();
    SAWTOOTH_CUDA_CHECK(cudaMemset(tensor.as(), 0, size_t(tensor.bytes())));
    call.schedule.kv_split = 2;
    workspace = DeviceBuffer(int64_t(workspace_bytes(call)));
    call.schedule.kv_split = 1;
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  Outcome launch() const {
    return attention_forward(call, workspace.as(), size_t(workspace.bytes()), nullptr);
  }
};

/// Calls `visit` with the preferred variant of each family at D = 64 that runs here.
template <class Visit>
void for_each_family(Visit visit) {
  for (const char* family : families_with_head_dim_64)
    if (const KernelVariant* variant = of_family(family)) visit(*variant);
}

TEST_F(AttentionOnGpu, SucceedsAfterAFailedCallOfTheCaller) {
  for_each_family([](const KernelVariant& variant) {
    CallOnZeros zeros(variant);
    zeros.call.schedule.kv_split = 2;
    ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
    EXPECT_EQ(zeros.launch().message, "") << variant.family;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    cudaGetLastError();
  });
}

TEST_F(AttentionOnGpu, RunsFirstThingInAThread) {
  for_each_family([](const KernelVariant& variant) {
    const CallOnZeros zeros(variant);
    Outcome outcome;
    std::thread([&] { outcome = zeros.launch(); }).join();
    EXPECT_EQ(outcome.message, "") << variant.family;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  });
}

TEST_F(AttentionOnGpu, RunsInTwoThreadsWithDifferentCtasPerSm) {
  const CallOnZeros all(*find_variant(64, ElementType::bf16, {0, 0}, "mma"));
  CallOnZeros one(*find_variant(64, ElementType::bf16, {0, 0}, "mma"));
  one.call.ctas_per_sm = 1;
  constexpr int launches = 2000;
  int failures_of_one = 0, failures_of_all = 0;
  std::thread other([&] {
    for (int i = 0; i < launches; ++i) failures_of_all += !all.launch();
  });
  for (int i = 0; i < launches; ++i) failures_of_one += !one.launch();
  other.join();
  EXPECT_EQ(failures_of_one, 0);
  EXPECT_EQ(failures_of_all, 0);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// One worker alone moves the word: an item starts where the one before has stopped.
TEST_F(AttentionOnGpu, AttachBeginsWhereTheItemBeforeHasStoppedInEveryVariant) {
  for (const KernelVariant& variant : kernel_variants()) {
    if (!runs_here(variant)) continue;
    AttentionForward call;
    call.problem = {.seq_q = 6 * variant.tiling.q_rows,
                    .seq_kv = 5 * variant.tiling.kv_rows,
                    .mask = {MaskKind::causal, 0}};
    set_variant(call, variant);
    for (const LaunchId launch : {launch_id<StaticLaunch>, launch_id<DynamicLaunch>}) {
      call.schedule = {.launch = launch, .scan = scan_id<AttachScan>, .workers = 1};
      const AttentionInputs inputs = random_inputs(call.problem, 3, 1.0f);
      const AttentionResults ran = run_attention(call, inputs, Layout::contiguous, true);
      int64_t stopped = 0;
      for (size_t item = 0; item < ran.items.size(); ++item) {
        EXPECT_EQ(ran.items[item].attach_tile, stopped) << variant.name << ", item " << item;
        const int64_t steps = ran.items[item].steps;
        if (steps > 0)
          stopped = ran.steps[item * size_t(ran.steps_per_item) + size_t(steps - 1)].kv_tile;
      }
    }
  }
}

TEST_F(AttentionOnGpu, KeepsARowOfNaNWithAndWithoutKvSplit) {
  for_each_family([](const KernelVariant& variant) {
    AttentionForward call;
    call.problem = {.seq_q = 256, .seq_kv = 256, .head_dim = 64, .dtype = variant.dtype};
    call.family = variant.family;
    AttentionInputs inputs = random_inputs(call.problem, 7, 1.0f);
    constexpr int64_t row = 5, dim = 64;
    for (int64_t d = 0; d < dim; ++d) inputs.q[size_t(row * dim + d)] = std::nanf("");
    for (const int64_t kv_split : {1, 2}) {
      call.schedule.kv_split = kv_split;
      const AttentionResults results = run_attention(call, inputs, Layout::contiguous);
      for (int64_t d = 0; d < dim; ++d)
        EXPECT_TRUE(std::isnan(results.o[size_t(row * dim + d)])) << variant.family;
      EXPECT_TRUE(std::isnan(results.lse[row])) << variant.family << ", split " << kv_split;
      EXPECT_TRUE(std::isfinite(results.lse[row + 1])) << variant.family;
    }
  });
}

}  // namespace
}  // namespace sawtooth::kernels
