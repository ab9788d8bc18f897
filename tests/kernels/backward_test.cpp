// attention_backward: what it refuses without a GPU, and its gradients on one.
#include "kernels/attention/backward.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "kernels/attention/automatic.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/backward_points.hpp"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

alignas(16) char tensor[32];
alignas(4) float numbers[2];

/// A call that passes every check.
AttentionBackward good_call() {
  const KernelVariant& variant = backward_variants().front();
  AttentionBackward call;
  call.problem = {.batch = 2,
                  .heads = 4,
                  .kv_heads = 2,
                  .seq_q = 300,
                  .seq_kv = 200,
                  .head_dim = variant.head_dim,
                  .dtype = variant.dtype,
                  .pass = Pass::backward};
  call.q = call.k = call.v = call.o = call.d_o = tensor;
  call.dq = call.dk = call.dv = tensor;
  call.lse = numbers;
  return call;
}

using Change = std::function<void(AttentionBackward&)>;

void expect_refusal(Status status, const std::string& word, const Change& change) {
  AttentionBackward call = good_call();
  change(call);
  expect_refused(check(call), status, word);
}

TEST(AttentionBackward, AcceptsAWholeCall) {
  EXPECT_EQ(check(good_call()).message, "");
}

TEST(AttentionBackward, NamesEveryTensorThatIsMissing) {
  const std::pair<const char*, Change> missing[] = {
      {"q is", [](AttentionBackward& call) { call.q = nullptr; }},
      {"k is", [](AttentionBackward& call) { call.k = nullptr; }},
      {"v is", [](AttentionBackward& call) { call.v = nullptr; }},
      {"o is", [](AttentionBackward& call) { call.o = nullptr; }},
      {"d_o is", [](AttentionBackward& call) { call.d_o = nullptr; }},
      {"lse is", [](AttentionBackward& call) { call.lse = nullptr; }},
      {"dq is", [](AttentionBackward& call) { call.dq = nullptr; }},
      {"dk is", [](AttentionBackward& call) { call.dk = nullptr; }},
      {"dv is", [](AttentionBackward& call) { call.dv = nullptr; }}};
  for (const auto& [word, change] : missing) expect_refusal(Status::null_pointer, word, change);
}

TEST(AttentionBackward, NamesWhatIsMisaligned) {
  expect_refusal(Status::misaligned, "d_o is not aligned",
                 [](AttentionBackward& call) { call.d_o = tensor + 8; });
  expect_refusal(Status::misaligned, "dk has a stride", [](AttentionBackward& call) {
    call.dk_strides = {4096, 4096, 68};
  });
  expect_refusal(Status::misaligned, "lse is not aligned", [](AttentionBackward& call) {
    call.lse = reinterpret_cast<const float*>(tensor + 2);
  });
}

TEST(AttentionBackward, NamesBadSizes) {
  expect_refusal(Status::bad_size, "heads is 3",
                 [](AttentionBackward& call) { call.problem.heads = 3; });
  expect_refusal(Status::bad_size, "dq has a row stride", [](AttentionBackward& call) {
    call.dq_strides = {4096, 4096, 8};
  });
  expect_refusal(Status::bad_size, "scale", [](AttentionBackward& call) { call.scale = -1; });
  expect_refusal(Status::bad_size, "2^31",
                 [](AttentionBackward& call) { call.problem.seq_q = 1 << 30; });
  expect_refusal(Status::bad_size, "window", [](AttentionBackward& call) {
    call.problem.mask = {MaskKind::window, 0};
  });
}

TEST(AttentionBackward, NamesWhatNoKernelHas) {
  expect_refusal(Status::unsupported_head_dim,
                 "/8; allowed: ", [](AttentionBackward& call) { call.problem.head_dim_v = 8; });
  expect_refusal(Status::unsupported_head_dim, "V is columns of K",
                 [](AttentionBackward& call) { call.problem.kv_latent = true; });
  expect_refusal(Status::unsupported_type, "kv_dtype is int8",
                 [](AttentionBackward& call) { call.problem.kv_dtype = ElementType::int8; });
  expect_refusal(Status::unsupported_type, "dtype is fp8; allowed: bf16, fp16",
                 [](AttentionBackward& call) { call.problem.dtype = ElementType::fp8; });
  expect_refusal(Status::unsupported_head_dim,
                 "allowed: ", [](AttentionBackward& call) { call.problem.head_dim = 72; });
  expect_refusal(Status::unsupported_type, "dtype is fp32; allowed: bf16, fp16",
                 [](AttentionBackward& call) {
                   call.problem.dtype = ElementType::fp32;
                   call.family = families::mma;
                 });
  expect_refusal(Status::unsupported_tiling, "tile 48x48", [](AttentionBackward& call) {
    call.tiling = {48, 48};
  });
  expect_refusal(Status::bad_schedule, "family is 'fma'",
                 [](AttentionBackward& call) { call.family = "fma"; });
  expect_refusal(
      Status::bad_schedule,
      "family is 'hopper-short', of which this build has no kernel of the backward pass; "
      "allowed: mma",
      [](AttentionBackward& call) { call.family = families::hopper_short; });
}

TEST(AttentionBackward, NamesSchedulesThatItDoesNotRun) {
  const std::pair<const char*, std::function<void(Schedule&)>> schedules[] = {
      {"list of items",
       [](Schedule& schedule) {
         static const WorkCoordinates first{};
         schedule.dq = Dq::ordered;
         schedule.order.list = &first;
       }},
      {"dq is separate",
       [](Schedule& schedule) {
         static const WorkCoordinates first{};
         schedule.dq = Dq::separate;
         schedule.order.list = &first;
       }},
      {"balanced", [](Schedule& schedule) { schedule.launch = launch_id<BalancedLaunch>; }},
      {"kv_split is 5; allowed in the backward pass: divisors of heads / kv_heads",
       [](Schedule& schedule) { schedule.kv_split = 5; }},
      {"prefetch", [](Schedule& schedule) { schedule.prefetch = 1; }},
      {"kv-outer", [](Schedule& schedule) { schedule.loop = Loop::kv_outer; }},
      {"workers", [](Schedule& schedule) { schedule.workers = -1; }},
      {"list", [](Schedule& schedule) { schedule.scan.index = Scans::size; }}};
  for (const auto& [word, change] : schedules)
    expect_refusal(Status::bad_schedule, word,
                   [apply = change](AttentionBackward& call) { apply(call.schedule); });
}

TEST(AttentionBackward, NeedsNoTensorOfASideWithoutRows) {
  AttentionBackward call = good_call();
  call.problem.seq_q = 0;
  call.q = call.o = call.d_o = nullptr;
  call.lse = nullptr;
  call.dq = nullptr;
  EXPECT_EQ(check(call).message, "");
  EXPECT_GT(workspace_bytes(call), 0u);
  call = good_call();
  call.problem.seq_kv = 0;
  call.k = call.v = nullptr;
  call.dk = call.dv = nullptr;
  EXPECT_EQ(check(call).message, "");
}

TEST(AttentionBackward, WantsAWorkspaceOfTheSumsOfDqAndTwoNumbersARow) {
  const AttentionBackward call = good_call();
  const Problem& problem = call.problem;
  const auto rows = std::size_t(problem.batch * problem.heads * problem.seq_q);
  const std::size_t beside_state = workspace_bytes(call) - workspace_state_bytes;
  EXPECT_GE(beside_state, rows * std::size_t(problem.head_dim + 2) * sizeof(float));
  ASSERT_EQ(problem.seq_q, 300);
  const auto heads = std::size_t(problem.batch * problem.heads);
  const std::size_t in_bands = heads * 304, in_tiles = heads * 384;  // of 8 rows, of 128
  EXPECT_LE(beside_state,
            (in_bands * std::size_t(problem.head_dim) + 2 * in_tiles) * sizeof(float) + 128);
}

TEST(AttentionBackward, ComputesDqAloneWhereThereIsAKernelAndNeedsNoSumsThen) {
  for (const KernelVariant& variant : backward_variants()) {
    AttentionBackward call = good_call();
    call.problem.head_dim = variant.head_dim;
    call.problem.dtype = variant.dtype;
    call.tiling = variant.tiling;
    call.family = variant.family;
    const std::size_t with_sums = workspace_bytes(call);
    call.schedule.dq = Dq::separate;
    const bool on_mma = variant.family == std::string_view(families::mma) ||
                        variant.family == std::string_view(families::mma_fp32);
    const bool can = on_mma && variant.tiling.kv_rows == 64;
    ASSERT_EQ(variant.separate_function != nullptr, can) << variant.name;
    if (!can) {
      EXPECT_EQ(check(call).status, Status::bad_schedule) << variant.name;
      continue;
    }
    EXPECT_EQ(check(call).message, "") << variant.name;
    const Problem& problem = call.problem;
    ASSERT_EQ(problem.seq_q, 300);
    const int64_t rows = problem.batch * problem.heads * 304;  // in bands of 8
    EXPECT_EQ(with_sums - workspace_bytes(call),
              std::size_t(rows * problem.head_dim) * sizeof(float))
        << variant.name;
  }
}

TEST(AttentionBackward, RefusesAWorkspaceThatIsTooSmall) {
  const AttentionBackward call = good_call();
  EXPECT_EQ(attention_backward(call, tensor, sizeof tensor, nullptr).status,
            Status::workspace_too_small);
  EXPECT_EQ(attention_backward(call, nullptr, 0, nullptr).status, Status::null_pointer);
}

/// What an H200 and an A100 say of themselves.
constexpr DeviceLimits h200{.compute_capability = 90, .shared_bytes = 232448, .sms = 132};
constexpr DeviceLimits a100{.compute_capability = 80, .shared_bytes = 166912, .sms = 108};

TEST(BackwardVariants, OfHopperRunPlainCallsOnTheirDeviceAlone) {
  for (const KernelVariant& variant : backward_variants()) {
    if (variant.family != std::string_view(families::hopper)) continue;
    AttentionBackward call = good_call();
    call.problem.head_dim = variant.head_dim;
    call.problem.dtype = variant.dtype;
    const KernelVariant* chosen = nullptr;
    ASSERT_EQ(choose_variant(call, h200, chosen).message, "");
    EXPECT_EQ(chosen, &variant);
    if (find_variant(variant.head_dim, variant.dtype, {0, 0}, families::mma, Pass::backward) ==
        nullptr)
      continue;
    ASSERT_EQ(choose_variant(call, a100, chosen).message, "");
    EXPECT_EQ(chosen->family, std::string_view(families::mma));
    call.d_o_strides = {0, 0, variant.head_dim};  // which the copy engine cannot step over
    ASSERT_EQ(choose_variant(call, h200, chosen).message, "");
    EXPECT_EQ(chosen->family, std::string_view(families::mma));
  }
}

// Tiles follow the shared memory of a block: 227 KiB, 163 KiB, and 99 KiB of sm_86, 89 and 120.
TEST(BackwardVariants, OfFp32RunEverywhere) {
  constexpr DeviceLimits ada{.compute_capability = 89, .shared_bytes = 101376, .sms = 142};
  const auto tile_of = [](int64_t head_dim, const DeviceLimits& device) {
    AttentionBackward call = good_call();
    call.problem.head_dim = head_dim;
    call.problem.dtype = ElementType::fp32;
    const KernelVariant* chosen = nullptr;
    EXPECT_EQ(choose_variant(call, device, chosen).message, "");
    return chosen == nullptr ? Tiling{0, 0} : chosen->tiling;
  };
  if (find_variant(128, ElementType::fp32, {0, 0}, families::mma_fp32, Pass::backward) == nullptr)
    GTEST_SKIP() << "this build has no backward kernels of fp32";
  for (const int64_t head_dim : {32, 64, 128})
    for (const DeviceLimits& device : {h200, a100, ada})
      EXPECT_GT(tile_of(head_dim, device).q_rows, 0);
  EXPECT_EQ(tile_of(128, h200).kv_rows, 128);
  EXPECT_EQ(tile_of(128, a100).kv_rows, 64);
  EXPECT_EQ(tile_of(128, ada).kv_rows, 32);
}

// Then no item waits for one that starts at the same time: with K/V tile j at its diagonal, the
// tile before it adds to the same rows a step later.
TEST(BackwardSchedule, BeginsWithTheLastKeysUnderAMaskWhereAdditionsAreOrdered) {
  AttentionBackward call = good_call();
  call.problem.mask.kind = MaskKind::causal;
  for (const auto& [dq, order] : {std::pair{Dq::ordered, q_order_id<DescendingQ>},
                                  std::pair{Dq::atomic, q_order_id<AscendingQ>}}) {
    call.schedule.dq = dq;
    const Schedule whole =
        complete_schedule(call.schedule, call.problem, backward_variants().front(), h200, 0);
    EXPECT_EQ(whole.order.q_order, order);
  }
}

// An item waits for the one before it, but not for those of other heads: 32 of them a head.
TEST(BackwardSchedule, WalksTheHeadsThatFillAWaveAtOnceWhereAdditionsAreOrdered) {
  for (const KernelVariant& variant : backward_variants()) {
    if (variant.tiling.kv_rows != 128 || variant.ctas_per_sm != 1) continue;
    AttentionBackward call = good_call();
    call.problem.batch = 4;
    call.problem.heads = call.problem.kv_heads = 16;
    call.problem.seq_q = call.problem.seq_kv = 4096;
    call.problem.head_dim = variant.head_dim;
    call.schedule.dq = Dq::ordered;
    const Schedule whole = complete_schedule(call.schedule, call.problem, variant, h200, 0);
    EXPECT_EQ(whole.order.section, 4) << variant.name;
    EXPECT_EQ(whole.order.q_order, q_order_id<AscendingQ>) << variant.name;
  }
}

// One head a part, but where an item has fewer than eight Q tiles in the mean.
TEST(BackwardSchedule, CutsGroupsUntilItemsAreShortWhereAdditionsAreOrdered) {
  for (const KernelVariant& variant : backward_variants()) {
    AttentionBackward call = good_call();
    call.problem.mask.kind = MaskKind::causal;
    call.problem.heads = 32;
    call.problem.kv_heads = 4;
    call.problem.head_dim = variant.head_dim;
    call.schedule.dq = Dq::ordered;
    for (const int64_t q_tiles_a_head : {16, 8}) {
      call.problem.seq_q = call.problem.seq_kv = q_tiles_a_head * variant.tiling.q_rows;
      const Schedule whole = complete_schedule(call.schedule, call.problem, variant, h200, 0);
      EXPECT_EQ(whole.kv_split, q_tiles_a_head / 2) << variant.name;
    }
  }
}

using BackwardOnGpu = OnGpu;

void expect_same_bits_twice(std::string_view family) {
  for (const uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    BackwardPoint point = random_backward_point(seed, family);
    Schedule& schedule = point.call.schedule;
    schedule.dq = Dq::ordered;
    schedule.scan = scan_id<ShiftScan>;  // depends on nothing but the item
    point.call.problem.seq_q = point.call.problem.seq_kv = 700;
    const BackwardInputs inputs = random_backward_inputs(point.call.problem, 0.125, seed);
    const BackwardResults first = run_backward(point.call, inputs, point.layout);
    const BackwardResults second = run_backward(point.call, inputs, point.layout);
    EXPECT_EQ(first.dq, second.dq) << seed;
    EXPECT_EQ(first.dk, second.dk) << seed;
    EXPECT_EQ(first.dv, second.dv) << seed;
  }
}

TEST_F(BackwardOnGpu, GivesTheSameBitsTwiceWhereAdditionsAreOrdered) {
  expect_same_bits_twice({});
}

class HopperBackwardOnGpu : public BackwardOnGpu {
 protected:
  void SetUp() override {
    BackwardOnGpu::SetUp();
    if (!IsSkipped() && std::ranges::none_of(backward_variants(), [](const KernelVariant& variant) {
          return variant.serves(families::hopper) && runs_here(variant);
        }))
      GTEST_SKIP() << "no backward kernel of the family hopper runs here";
  }
};

TEST_F(HopperBackwardOnGpu, AgreesWithTheReferenceOnRandomProblemsAndSchedules) {
  constexpr uint64_t points = 300;
  GradientErrors worst{};
  for (uint64_t seed = 0; seed < points; ++seed)
    EXPECT_EQ(run_and_judge(random_backward_point(seed, families::hopper), seed, worst), "");
}

TEST_F(HopperBackwardOnGpu, GivesTheSameBitsTwiceWhereAdditionsAreOrdered) {
  expect_same_bits_twice(families::hopper);
}

TEST_F(BackwardOnGpu, GivesZerosWhereOneSideHasNoRows) {
  for (const auto& [seq_q, seq_kv] : {std::pair{0, 70}, std::pair{70, 0}}) {
    BackwardPoint point = random_backward_point(0);
    point.call.problem.seq_q = seq_q;
    point.call.problem.seq_kv = seq_kv;
    point.layout = Layout::contiguous;
    const Problem& problem = point.call.problem;
    const auto q_size = size_t(problem.batch * problem.heads * seq_q * problem.head_dim);
    const auto kv_size = size_t(problem.batch * problem.kv_heads * seq_kv * problem.head_dim);
    BackwardInputs inputs;
    inputs.forward = {std::vector<float>(q_size, 1.0f), std::vector<float>(kv_size, 1.0f),
                      std::vector<float>(kv_size, 1.0f)};
    inputs.o = inputs.d_o = std::vector<float>(q_size, 0.0f);
    inputs.lse.assign(size_t(problem.batch * problem.heads * seq_q), -INFINITY);
    const BackwardResults results = run_backward(point.call, inputs, point.layout);
    EXPECT_EQ(results.dq, std::vector<float>(q_size, 0.0f));
    EXPECT_EQ(results.dk, std::vector<float>(kv_size, 0.0f));
    EXPECT_EQ(results.dv, std::vector<float>(kv_size, 0.0f));
  }
}

}  // namespace
}  // namespace sawtooth::kernels
