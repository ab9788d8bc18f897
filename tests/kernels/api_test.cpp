// What the C and C++ API refuse, without a device: the checks come before any call of CUDA.
#include <cstring>
#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/variant_list.hpp"
#include "kernels/attention/workspace.hpp"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t seq = 96;

template <class Known>
struct WithLaterField {
  Known known;
  int64_t later = 1;
};

/// A valid call on host memory that nobody may touch: its bytes are checked afterwards.
class ApiRefuses : public testing::Test {
 protected:
  ApiRefuses() {
    sawtooth_attention_defaults(&call_);
    call_.seq_q = call_.seq_kv = seq;
    call_.head_dim = 64;
    call_.q = call_.k = call_.v = tensor_;
    call_.o = tensor_;
    std::memset(tensor_, untouched, sizeof tensor_);
    std::memset(workspace_, untouched, sizeof workspace_);
  }
  ~ApiRefuses() override {
    for (const unsigned char byte : tensor_) EXPECT_EQ(byte, untouched);
    for (const unsigned char byte : workspace_) EXPECT_EQ(byte, untouched);
  }

  /// Expects `status` and a message with `word` from the launch.
  void expect(sawtooth_status status, const char* word) {
    EXPECT_EQ(sawtooth_attention_forward(&call_, workspace_, sizeof workspace_, nullptr), status);
    EXPECT_NE(std::strstr(sawtooth_last_message(), word), nullptr) << sawtooth_last_message();
  }

  static constexpr unsigned char untouched = 0x5a;
  sawtooth_attention call_;
  alignas(16) unsigned char tensor_[64];
  alignas(16) unsigned char workspace_[4096];  // less than any call needs
};

TEST_F(ApiRefuses, NullPointers) {
  EXPECT_EQ(sawtooth_attention_forward(nullptr, workspace_, sizeof workspace_, nullptr),
            SAWTOOTH_NULL_POINTER);
  EXPECT_EQ(sawtooth_attention_forward(&call_, nullptr, 0, nullptr), SAWTOOTH_NULL_POINTER);
  call_.k = nullptr;
  expect(SAWTOOTH_NULL_POINTER, "k is");
  call_.k = tensor_;
  call_.o = nullptr;
  expect(SAWTOOTH_NULL_POINTER, "o is");
}

TEST_F(ApiRefuses, NegativeAndHugeSizes) {
  for (int64_t sawtooth_attention::*field :
       {&sawtooth_attention::batch, &sawtooth_attention::heads, &sawtooth_attention::kv_heads,
        &sawtooth_attention::seq_q, &sawtooth_attention::seq_kv, &sawtooth_attention::head_dim})
    for (const int64_t wrong : {int64_t{-5}, int64_t{1} << 40}) {
      const int64_t right = call_.*field;
      call_.*field = wrong;
      expect(SAWTOOTH_BAD_SIZE, std::to_string(wrong).c_str());
      call_.*field = right;
    }
}

TEST_F(ApiRefuses, SizesThatDoNotGoTogetherOrWhoseProductsDoNotFit63Bits) {
  struct Wrong {
    const char* word;
    void (*change)(sawtooth_attention&);
  };
  const sawtooth_attention right = call_;
  for (const auto& [word, change] :
       {Wrong{"kv_heads",
              [](auto& call) {
                call.heads = 6;
                call.kv_heads = 4;
              }},
        Wrong{"window", [](auto& call) { call.mask = SAWTOOTH_MASK_WINDOW; }},
        Wrong{"scale", [](auto& call) { call.scale = -1; }},
        Wrong{"o spans",
              [](auto& call) {
                call.o_strides = {0, 0, int64_t{1} << 60};
              }},
        Wrong{"items",  // of 4 heads 2^64, 0 in 64 bits
              [](auto& call) {
                call.heads = call.kv_heads = 4;
                call.kv_split = int64_t{1} << 62;
              }},
        Wrong{"kv_split",  // more rows of parts than a grid joins: 2^32 in fewer than 2^28 items
              [](auto& call) {
                call.heads = call.kv_heads = 1 << 20;
                call.seq_q = 1 << 12;
                call.kv_split = 2;
              }},
        Wrong{"k spans",  // 2^7 heads of 2^7 bytes a row: 2^64 bytes
              [](auto& call) {
                call.batch = 1 << 20;
                call.seq_kv = 1 << 30;
                call.heads = call.kv_heads = 1 << 7;
              }}}) {
    call_ = right;
    change(call_);
    expect(SAWTOOTH_BAD_SIZE, word);
  }
}

TEST_F(ApiRefuses, HeadDimsTypesAndTilesWithoutAKernelByName) {
  call_.head_dim = 72;
  expect(SAWTOOTH_UNSUPPORTED_HEAD_DIM, "allowed: ");
  call_.head_dim = 64;
  call_.head_dim_v = 8;
  expect(SAWTOOTH_UNSUPPORTED_HEAD_DIM, "head_dim is 64/8; allowed: ");
  call_.head_dim_v = -1;
  expect(SAWTOOTH_BAD_SIZE, "head_dim_v is -1");
  call_.head_dim_v = 0;
  call_.tile_q = 17;
  call_.tile_kv = 64;
  expect(SAWTOOTH_UNSUPPORTED_TILING, "17x64");
  call_.tile_q = call_.tile_kv = 0;
  call_.dtype = static_cast<sawtooth_dtype>(3);
  expect(SAWTOOTH_UNSUPPORTED_TYPE, "dtype");
  call_.dtype = SAWTOOTH_FP32;
  call_.family = "mma";
  expect(SAWTOOTH_UNSUPPORTED_TYPE, "dtype is fp32; allowed: bf16, fp16");
}

TEST_F(ApiRefuses, MisalignedPointersAndStrides) {
  call_.q = tensor_ + 2;
  expect(SAWTOOTH_MISALIGNED, "q is not aligned");
  call_.q = tensor_;
  call_.v_strides = {64 * seq, 64 * seq, 68};
  expect(SAWTOOTH_MISALIGNED, "68");
  call_.v_strides = {64 * seq, 64 * seq, 32};
  expect(SAWTOOTH_BAD_SIZE, "row stride");
}

/// A call of two heads that the variant runs.
AttentionForward call_of(const KernelVariant& variant) {
  AttentionForward call;
  call.problem = {.batch = 1, .heads = 2, .kv_heads = 2, .seq_q = seq, .seq_kv = seq};
  set_variant(call, variant);
  call.q = call.k = call.v = call.o = somewhere;
  return call;
}

// A stride of 0 repeats a head for all: cp.async copies it, a tensor map cannot describe it.
TEST(TensorMaps, StridesThatTheCopyEngineCannotStepOverAreRefusedByName) {
  for (const KernelVariant& variant : kernel_variants()) {
    AttentionForward call = call_of(variant);
    ASSERT_TRUE(check(call)) << check(call).message;
    for (const int64_t head_stride : {int64_t{0}, int64_t{1} << 39}) {
      call.k_strides = {0, head_stride, variant.head_dim};
      const Outcome outcome = check(call);
      if (!variant.loads_by_copy_engine()) {
        EXPECT_EQ(outcome.message, "") << variant.family;
        continue;
      }
      expect_refused(outcome, Status::misaligned,
                     "k has a stride of " + std::to_string(head_stride));
      EXPECT_NE(outcome.message.find("mma"), std::string::npos);
    }
    // The largest stride that a map takes; that of the single batch is never stepped over.
    call.k_strides = {0, (int64_t{1} << 39) - 8, variant.head_dim};
    EXPECT_EQ(check(call).message, "") << variant.family;
  }
}

TEST_F(ApiRefuses, SchedulesThatAreNotOnTheLists) {
  call_.scan = "zigzag";
  expect(SAWTOOTH_BAD_SCHEDULE, "sawtooth-item");
  call_.scan = "linear";
  call_.family = "moma";
  expect(SAWTOOTH_BAD_SCHEDULE, "mma-tma");
  call_.family = nullptr;
  call_.workers = -1;
  expect(SAWTOOTH_BAD_SCHEDULE, "workers");
  call_.workers = 1;
  call_.prefetch = -1;
  expect(SAWTOOTH_BAD_SCHEDULE, "prefetch");
}

TEST(PackedHeads, AreRefusedByAllKernels) {
  for (const KernelVariant& variant : kernel_variants()) {
    AttentionForward call = call_of(variant);
    EXPECT_EQ(check(call).message, "") << variant.family;
    call.tiling.rows_a_position = 2;
    expect_refused(check(call), Status::unsupported_tiling, "rows_a_position is 2");
  }
}

TEST(BalancedLaunch, IsRefusedByKernelsThatMergeNoPiecesUnlessKvIsSplit) {
  for (const KernelVariant& variant : kernel_variants()) {
    AttentionForward call = call_of(variant);
    call.schedule.launch = launch_id<BalancedLaunch>;
    const Outcome outcome = check(call);
    if (variant.merges_pieces)
      EXPECT_EQ(outcome.message, "") << variant.family;
    else
      expect_refused(outcome, Status::bad_schedule, "balanced");
    call.schedule.workers = most_balanced_workers + 1;
    EXPECT_EQ(check(call).status, Status::bad_schedule);
    call.schedule.kv_split = 2;  // nothing is cut then: as static
    EXPECT_EQ(check(call).message, "") << variant.family;
  }
}

TEST_F(ApiRefuses, AWorkspaceThatIsTooSmall) {
  call_.kv_split = 4;
  size_t needed = 0;
  ASSERT_EQ(sawtooth_attention_workspace_bytes(&call_, &needed), SAWTOOTH_OK);
  // Four parts of float O and lse, besides ticket and attach word.
  EXPECT_GE(needed, size_t(4 * seq * (64 + 1) * sizeof(float)));
  expect(SAWTOOTH_WORKSPACE_TOO_SMALL, std::to_string(needed).c_str());
}

TEST_F(ApiRefuses, AStructOfAnotherVersionOrWithFieldsThatItDoesNotKnow) {
  call_.version = 2;
  expect(SAWTOOTH_BAD_VERSION, "version is 2");
  call_.version = SAWTOOTH_API_VERSION;
  call_.struct_size = 8;
  expect(SAWTOOTH_BAD_VERSION, "struct_size is 8");
  WithLaterField<sawtooth_attention> call = {call_};
  call.known.struct_size = sizeof call;
  EXPECT_EQ(sawtooth_attention_forward(&call.known, workspace_, sizeof workspace_, nullptr),
            SAWTOOTH_BAD_VERSION);
  call.later = 0;  // as before the field was there
  EXPECT_EQ(sawtooth_attention_forward(&call.known, workspace_, sizeof workspace_, nullptr),
            SAWTOOTH_WORKSPACE_TOO_SMALL);
}

class BackwardApiRefuses : public ApiRefuses {
 protected:
  BackwardApiRefuses() {
    sawtooth_gradients_defaults(&gradients_);
    call_.lse = reinterpret_cast<float*>(tensor_);
    gradients_.d_o = tensor_;
    gradients_.dq = gradients_.dk = gradients_.dv = tensor_;
  }

  void expect(sawtooth_status status, const std::string& word) {
    EXPECT_EQ(
        sawtooth_attention_backward(&call_, &gradients_, workspace_, sizeof workspace_, nullptr),
        status);
    EXPECT_NE(std::strstr(sawtooth_last_message(), word.c_str()), nullptr)
        << sawtooth_last_message();
  }

  sawtooth_gradients gradients_;
};

TEST_F(BackwardApiRefuses, AWorkspaceThatIsTooSmallForAValidCall) {
  size_t needed = 0;
  ASSERT_EQ(sawtooth_backward_workspace_bytes(&call_, &gradients_, &needed), SAWTOOTH_OK)
      << sawtooth_last_message();
  EXPECT_GE(needed, size_t(seq * (64 + 2) * sizeof(float)));  // sums of dQ, two numbers a row
  expect(SAWTOOTH_WORKSPACE_TOO_SMALL, std::to_string(needed));
  size_t ordered = 0;
  gradients_.dq_additions = "ordered";
  ASSERT_EQ(sawtooth_backward_workspace_bytes(&call_, &gradients_, &ordered), SAWTOOTH_OK);
  EXPECT_GT(ordered, needed);  // a count of additions a Q tile
}

TEST_F(BackwardApiRefuses, NullPointersByName) {
  EXPECT_EQ(
      sawtooth_attention_backward(nullptr, &gradients_, workspace_, sizeof workspace_, nullptr),
      SAWTOOTH_NULL_POINTER);
  EXPECT_EQ(sawtooth_attention_backward(&call_, nullptr, workspace_, sizeof workspace_, nullptr),
            SAWTOOTH_NULL_POINTER);
  EXPECT_NE(std::strstr(sawtooth_last_message(), "gradients is"), nullptr);
  EXPECT_EQ(sawtooth_backward_workspace_bytes(&call_, &gradients_, nullptr), SAWTOOTH_NULL_POINTER);
  gradients_.dk = nullptr;
  expect(SAWTOOTH_NULL_POINTER, "dk is");
  gradients_.dk = tensor_;
  call_.lse = nullptr;
  expect(SAWTOOTH_NULL_POINTER, "lse is");
}

TEST_F(BackwardApiRefuses, MisalignedGradientsAndStrides) {
  gradients_.d_o = tensor_ + 2;
  expect(SAWTOOTH_MISALIGNED, "d_o is not aligned");
  gradients_.d_o = tensor_;
  gradients_.dv_strides = {64 * seq, 64 * seq, 68};
  expect(SAWTOOTH_MISALIGNED, "dv has a stride of 68");
}

TEST_F(BackwardApiRefuses, SchedulesAndAdditionsThatItDoesNotRun) {
  gradients_.dq_additions = "sorted";
  expect(SAWTOOTH_BAD_SCHEDULE, "dq_additions is 'sorted'; allowed: atomic, ordered");
  gradients_.dq_additions = "atomic";
  call_.kv_split = 2;
  expect(SAWTOOTH_BAD_SCHEDULE, "kv_split is 2");
}

TEST_F(BackwardApiRefuses, StructsOfAnotherVersionOrWithFieldsThatItDoesNotKnow) {
  gradients_.version = 3;
  expect(SAWTOOTH_BAD_VERSION, "gradients: version is 3");
  gradients_.version = SAWTOOTH_API_VERSION;
  gradients_.struct_size = 8;
  expect(SAWTOOTH_BAD_VERSION, "gradients: struct_size is 8");
  WithLaterField<sawtooth_gradients> gradients = {gradients_};
  gradients.known.struct_size = sizeof gradients;
  EXPECT_EQ(
      sawtooth_attention_backward(&call_, &gradients.known, workspace_, sizeof workspace_, nullptr),
      SAWTOOTH_BAD_VERSION);
  gradients.later = 0;
  EXPECT_EQ(
      sawtooth_attention_backward(&call_, &gradients.known, workspace_, sizeof workspace_, nullptr),
      SAWTOOTH_WORKSPACE_TOO_SMALL);
}

TEST_F(ApiRefuses, APlanOfACallThatItRefuses) {
  sawtooth_plan* plan = nullptr;
  call_.head_dim = 72;
  EXPECT_EQ(sawtooth_plan_create(&call_, workspace_, sizeof workspace_, &plan),
            SAWTOOTH_UNSUPPORTED_HEAD_DIM);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(sawtooth_plan_create(&call_, workspace_, sizeof workspace_, nullptr),
            SAWTOOTH_NULL_POINTER);
  EXPECT_EQ(sawtooth_plan_run(nullptr, nullptr), SAWTOOTH_NULL_POINTER);
  sawtooth_plan_destroy(nullptr);
}

TEST(EmptyProblems, DoNothingAndSucceedWithoutTensorsWorkspaceOrDevice) {
  for (int64_t sawtooth_attention::*size :
       {&sawtooth_attention::batch, &sawtooth_attention::heads, &sawtooth_attention::seq_q}) {
    sawtooth_attention call;
    sawtooth_attention_defaults(&call);
    call.seq_q = call.seq_kv = seq;
    call.*size = 0;
    EXPECT_EQ(sawtooth_attention_forward(&call, nullptr, 0, nullptr), SAWTOOTH_OK)
        << sawtooth_last_message();
    sawtooth_plan* plan = nullptr;
    EXPECT_EQ(sawtooth_plan_create(&call, nullptr, 0, &plan), SAWTOOTH_OK);
    EXPECT_EQ(sawtooth_plan_run(plan, nullptr), SAWTOOTH_OK);
    sawtooth_plan_destroy(plan);
  }
}

// Bytes of shared memory that a block can have: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability". 128x64 at D = 128 needs Q (32 KiB), two stages of K and V
// (64 KiB) and the tables of its item: more than 99 KiB, so that 64x64 is next.
const KernelVariant& chosen_for(const AttentionForward& call, const DeviceLimits& device) {
  const KernelVariant* chosen = nullptr;
  const Outcome outcome = choose_variant(call, device, chosen);
  if (!outcome) throw std::runtime_error(outcome.message);
  return *chosen;
}

TEST(KernelTable, ACallWithoutATilingRunsTheFirstThatFitsTheDevice) {
  constexpr DeviceLimits hopper{90, 227 * 1024, 132}, blackwell_desktop{120, 99 * 1024, 48};
  AttentionForward call;
  call.problem.head_dim = 128;
  call.problem.dtype = ElementType::bf16;
  if (find_variant(128, ElementType::bf16, {128, 64}) == nullptr)
    GTEST_SKIP() << "this build has no 128x64 tiles at D = 128";
  EXPECT_EQ(chosen_for(call, hopper).tiling.q_rows, 128);
  EXPECT_EQ(chosen_for(call, blackwell_desktop).tiling.q_rows, 64);
  call.tiling = {128, 64};
  const KernelVariant* chosen = nullptr;
  const Outcome refused = choose_variant(call, blackwell_desktop, chosen);
  EXPECT_NE(refused.message.find("shared memory"), std::string::npos) << refused.message;
}

// Where several families have a tile, the one made for the device runs it, and where its copies
// cannot step over a stride the next.
TEST(KernelTable, ATileOfSeveralFamiliesGoesToTheFastestThatCanRunTheStrides) {
  constexpr DeviceLimits h200{90, 227 * 1024, 132}, a100{80, 163 * 1024, 108};
  AttentionForward call;
  call.problem = {
      .batch = 1, .heads = 2, .kv_heads = 2, .seq_q = seq, .seq_kv = seq, .head_dim = 64};
  call.tiling = {128, 128};
  if (find_variant(64, ElementType::bf16, call.tiling, "mma") == nullptr)
    GTEST_SKIP() << "this build has no 128x128 tiles at D = 64";
  EXPECT_EQ(chosen_for(call, a100).family, std::string("mma"));
  for (const char* family : {"hopper", "mma-tma", "mma"})
    if (find_variant(64, ElementType::bf16, call.tiling, family) != nullptr) {
      EXPECT_EQ(chosen_for(call, h200).family, std::string(family));
      break;
    }
  call.k_strides = {0, 0, 64};  // one head for all: no tensor map has it
  EXPECT_EQ(chosen_for(call, h200).family, std::string("mma"));
  call.tiling = {0, 0};
  EXPECT_EQ(chosen_for(call, h200).family, std::string("mma"));
}

// Faster at these lengths: experiments/data/h100/race/schedules.csv.
TEST(KernelTable, ShortSequencesRunTheirOwnKernelUnlessTheCallNamesAFamily) {
  constexpr DeviceLimits h200{90, 227 * 1024, 132};
  if (find_variant(128, ElementType::bf16, {0, 0}, families::hopper_short) == nullptr)
    GTEST_SKIP() << "this build has no Hopper kernels";
  struct Expected {
    int64_t head_dim;
    int64_t rows;
    const char* family;
  };
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
    for (const auto& [head_dim, rows, family] :
         {Expected{64, 512, families::hopper_short}, Expected{64, 2048, families::hopper},
          Expected{128, 4096, families::hopper_short}, Expected{128, 8192, families::hopper}}) {
      AttentionForward call;
      call.problem = {.batch = 16384 / rows,
                      .heads = 16,
                      .kv_heads = 16,
                      .seq_q = rows,
                      .seq_kv = rows,
                      .head_dim = head_dim,
                      .mask = {mask, 0}};
      EXPECT_EQ(chosen_for(call, h200).family, std::string(family)) << head_dim << ", " << rows;
      call.family = families::hopper;
      EXPECT_EQ(chosen_for(call, h200).family, std::string(families::hopper));
      call.family = {};
      float sums[4];  // running results, which the kernel for short sequences does not add to
      call.running = {.o = sums, .lse = sums};
      EXPECT_EQ(chosen_for(call, h200).family, std::string(families::hopper));
    }
}

TEST(FailedCallsOfCuda, NameAMissingKernelImage) {
  for (const cudaError_t error :
       {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
    expect_refused(failed("preparing a kernel", error), Status::no_device,
                   "no code for the device");
  }
}

TEST(KernelTable, LoadsByTheCopyEngineNeedADeviceThatHasOne) {
  for (const KernelVariant& variant : kernel_variants())
    EXPECT_EQ(variant.needs_device(), variant.loads_by_copy_engine()) << variant.family;
}

TEST(KernelTable, HasEachVariantOnceAndFindsThePreferredOne) {
  for (const KernelVariant& variant : kernel_variants()) {
    const KernelVariant* found =
        find_variant(variant.head_dims(), variant.dtype, variant.tiling, variant.family);
    EXPECT_EQ(found, &variant);
    const KernelVariant* preferred =
        find_variant(variant.head_dims(), variant.dtype, {0, 0}, variant.family);
    ASSERT_NE(preferred, nullptr);
    EXPECT_LE(preferred, &variant);
  }
  for (const KernelVariant& variant : kernel_variants()) {
    const std::string family = variant.family;
    EXPECT_EQ(variant.dtype == ElementType::fp32, family == families::mma_fp32) << variant.name;
  }
}

}  // namespace
}  // namespace sawtooth::kernels
