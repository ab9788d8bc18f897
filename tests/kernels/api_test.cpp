// What the C and C++ API refuse, without a device: the checks come before any call of CUDA.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "kernels/attention.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t seq = 96;

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
  alignas(16) unsigned char workspace_[4096];
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

TEST_F(ApiRefuses, ZeroAndNegativeSizes) {
  for (int64_t sawtooth_attention::*field :
       {&sawtooth_attention::batch, &sawtooth_attention::heads, &sawtooth_attention::kv_heads,
        &sawtooth_attention::seq_q, &sawtooth_attention::seq_kv, &sawtooth_attention::head_dim})
    for (const int64_t wrong : {int64_t{0}, int64_t{-5}, int64_t{1} << 40}) {
      const int64_t right = call_.*field;
      call_.*field = wrong;
      expect(SAWTOOTH_BAD_SIZE, std::to_string(wrong).c_str());
      call_.*field = right;
    }
}

TEST_F(ApiRefuses, HeadsThatDoNotDivide) {
  call_.heads = 6;
  call_.kv_heads = 4;
  expect(SAWTOOTH_BAD_SIZE, "kv_heads");
}

TEST_F(ApiRefuses, AWindowWithoutKeys) {
  call_.mask = SAWTOOTH_MASK_WINDOW;
  expect(SAWTOOTH_BAD_SIZE, "window");
}

TEST_F(ApiRefuses, HeadDimsTypesAndTilesWithoutAKernelByName) {
  call_.head_dim = 72;
  expect(SAWTOOTH_UNSUPPORTED_HEAD_DIM, "allowed: ");
  call_.head_dim = 64;
  call_.tile_q = 17;
  call_.tile_kv = 64;
  expect(SAWTOOTH_UNSUPPORTED_TILING, "17x64");
  call_.tile_q = call_.tile_kv = 0;
  call_.dtype = static_cast<sawtooth_dtype>(2);
  expect(SAWTOOTH_UNSUPPORTED_TYPE, "dtype");
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

TEST_F(ApiRefuses, SchedulesThatAreNotOnTheLists) {
  call_.scan = "zigzag";
  expect(SAWTOOTH_BAD_SCHEDULE, "sawtooth-item");
  call_.scan = "linear";
  call_.workers = 0;
  expect(SAWTOOTH_BAD_SCHEDULE, "workers");
  call_.workers = 1;
  call_.prefetch = -1;
  expect(SAWTOOTH_BAD_SCHEDULE, "prefetch");
}

TEST_F(ApiRefuses, NegativeScales) {
  call_.scale = -1;
  expect(SAWTOOTH_BAD_SIZE, "scale");
}

TEST_F(ApiRefuses, AWorkspaceThatIsTooSmall) {
  call_.kv_split = 4;
  size_t needed = 0;
  ASSERT_EQ(sawtooth_attention_workspace_bytes(&call_, &needed), SAWTOOTH_OK);
  // Four parts of float O and lse, besides ticket and attach word.
  EXPECT_GE(needed, size_t(4 * seq * (64 + 1) * sizeof(float)));
  expect(SAWTOOTH_WORKSPACE_TOO_SMALL, std::to_string(needed).c_str());
}

TEST(KernelTable, HasEachVariantOnceAndFindsThePreferredOne) {
  for (const KernelVariant& variant : kernel_variants()) {
    const KernelVariant* found =
        find_variant(variant.head_dim, variant.dtype, variant.tiling, variant.family);
    EXPECT_EQ(found, &variant);
    const KernelVariant* preferred =
        find_variant(variant.head_dim, variant.dtype, {0, 0}, variant.family);
    ASSERT_NE(preferred, nullptr);
    EXPECT_LE(preferred, &variant);
  }
  EXPECT_EQ(find_variant(64, ElementType::fp32, {0, 0}), nullptr);
}

}  // namespace
}  // namespace sawtooth::kernels
