// What calls of decode refuse, and what they say; no GPU is needed.
#include "kernels/attention/decode.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

AttentionDecode valid_call() {
  AttentionDecode call;
  call.problem = {
      .batch = 3, .heads = 8, .kv_heads = 2, .seq_q = 1, .seq_kv = 100, .head_dim = 128};
  call.q = call.k = call.v = call.o = somewhere;
  return call;
}
AttentionDecode paged_call() {
  AttentionDecode call = valid_call();
  call.pages = {.table = reinterpret_cast<const int32_t*>(somewhere),
                .table_stride = 7,
                .page_rows = 16,
                .page_count = 21};
  return call;
}

TEST(DecodeVariants, TakeTensorMapsWhereTheCopyEngineLoads) {
  for (const KernelVariant& variant : decode_variants())
    EXPECT_EQ(variant.loads_by_copy_engine(), variant.family == std::string_view("mma-tma"))
        << variant.name;
}

TEST(DecodeChecks, AcceptPlainAndPagedCalls) {
  EXPECT_EQ(check(valid_call()).message, "");
  EXPECT_EQ(check(paged_call()).message, "");
}

TEST(DecodeChecks, RefusePagesThatAreNoPowerOfTwoFrom16To256) {
  for (const int64_t rows : {0, 8, 48, 512}) {
    AttentionDecode call = paged_call();
    call.pages.page_rows = rows;
    expect_refused(check(call), Status::bad_size, "allowed: 16, 32, 64, 128, 256");
  }
}

TEST(DecodeChecks, RefuseMoreKeysThanTheTableHasRowsFor) {
  AttentionDecode call = paged_call();
  call.problem.seq_kv = 7 * 16;
  EXPECT_EQ(check(call).status, Status::ok);
  call.problem.seq_kv = 7 * 16 + 1;
  EXPECT_EQ(check(call).status, Status::bad_size);
}

TEST(DecodeChecks, RefuseMasksTypesFamiliesAndHeadDimsThatNoKernelHas) {
  AttentionDecode call = valid_call();
  call.problem.mask = {MaskKind::window, 8};
  EXPECT_EQ(check(call).status, Status::bad_size);
  call = valid_call();
  call.problem.dtype = ElementType::fp32;
  EXPECT_EQ(check(call).status, Status::unsupported_type);
  call = valid_call();
  call.family = "hopper";
  EXPECT_EQ(check(call).status, Status::bad_schedule);
  call = valid_call();
  call.problem.head_dim = 96;
  expect_refused(check(call), Status::unsupported_head_dim, "allowed for decode: 64, 128, 256");
}

TEST(DecodeChecks, RefuseMisalignedTablesAndMissingTensors) {
  AttentionDecode call = valid_call();
  call.lengths = reinterpret_cast<const int32_t*>(somewhere + 1);
  EXPECT_EQ(check(call).status, Status::misaligned);
  call = valid_call();
  call.k = nullptr;
  EXPECT_EQ(check(call).status, Status::null_pointer);
}

TEST(DecodeChecks, RefuseMoreSequencesWithLengthsThanSharedMemoryHolds) {
  AttentionDecode call = valid_call();
  call.problem.batch = 2049;
  EXPECT_EQ(check(call).status, Status::ok);
  call.lengths = reinterpret_cast<const int32_t*>(somewhere);
  EXPECT_EQ(check(call).status, Status::bad_size);
}

/// Three sequences of 4 rows a K/V head share 64 of 100 keys.
AttentionDecode cascade_call() {
  AttentionDecode call = valid_call();
  call.prefix = {.keys = 64, .group = 3};
  return call;
}

TEST(DecodeChecks, RefusePrefixesThatAreNoWholeTilesOrPages) {
  EXPECT_EQ(check(cascade_call()).message, "");
  AttentionDecode call = cascade_call();
  call.prefix.keys = 96;
  EXPECT_NE(check(call).message.find("multiples of 64"), std::string::npos);
  call = cascade_call();
  call.problem.seq_kv = 256;
  call.pages = {.table = reinterpret_cast<const int32_t*>(somewhere),
                .table_stride = 2,
                .page_rows = 128,
                .page_count = 6};
  EXPECT_NE(check(call).message.find("multiples of 128"), std::string::npos);
  call = cascade_call();
  call.prefix.group = 0;
  EXPECT_EQ(check(call).status, Status::bad_size);
}

// The first of three queries does not see the last two keys.
TEST(DecodeChecks, RefusePrefixesThatAQueryDoesNotSeeWhole) {
  AttentionDecode call = cascade_call();
  call.problem.seq_q = 3;
  call.problem.seq_kv = 64;
  EXPECT_EQ(check(call).message, "");
  call.problem.mask.kind = MaskKind::causal;
  EXPECT_NE(check(call).message.find("from 66"), std::string::npos);
  call.problem.seq_kv = 66;
  EXPECT_EQ(check(call).message, "");
}

// An arrival counter each in the state of launches.
TEST(DecodeChecks, RefuseMoreHeadsWithAPrefixThanTheStateHasCountersFor) {
  AttentionDecode call = cascade_call();
  call.problem.batch = 8192;
  EXPECT_EQ(check(call).status, Status::ok);
  call.problem.batch = 8193;
  EXPECT_NE(check(call).message.find("above 16384"), std::string::npos);
}

TEST(DecodeVariants, HoldTheRowsOfAStackOfSequences) {
  AttentionDecode call = cascade_call();
  call.family = "mma";
  ASSERT_NE(decode_variant_of(call), nullptr);
  EXPECT_EQ(decode_variant_of(call)->tiling.q_rows, 16);  // 3 x 4 rows
  call.problem.batch = 5;
  call.prefix.group = 5;
  EXPECT_EQ(decode_variant_of(call)->tiling.q_rows, 32);
  call.prefix = {};
  EXPECT_EQ(decode_variant_of(call)->tiling.q_rows, 16);
  // 36 rows of a sequence fit no tile.
  call = cascade_call();
  call.problem.seq_q = 9;
  EXPECT_EQ(decode_variant_of(call), nullptr);
}

// 64 keys are half a tile of mma-tma.
TEST(DecodeVariants, HaveWholeTilesOfAPrefix) {
  AttentionDecode call = cascade_call();
  call.family = "mma-tma";
  EXPECT_EQ(decode_variant_of(call), nullptr);
}

TEST(DecodeChecks, LetCallsWithoutAQueryPass) {
  AttentionDecode call = valid_call();
  call.problem.seq_q = 0;
  call.q = call.k = call.v = call.o = nullptr;
  EXPECT_EQ(check(call).message, "");
  EXPECT_EQ(attention_decode(call, nullptr, 0, nullptr).message, "");
}

TEST(DecodeChecks, AreTheSameInC) {
  sawtooth_decode call;
  sawtooth_decode_defaults(&call);
  call.heads = 8;
  call.kv_heads = 2;
  call.seq_kv = 100;
  call.q = call.k = call.v = call.o = somewhere;
  size_t bytes = 0;
  EXPECT_EQ(sawtooth_decode_workspace_bytes(&call, &bytes), SAWTOOTH_OK) << sawtooth_last_message();
  EXPECT_GE(bytes, sawtooth_workspace_state_bytes());
  call.page_table = reinterpret_cast<const int32_t*>(somewhere);
  EXPECT_EQ(sawtooth_decode_workspace_bytes(&call, &bytes), SAWTOOTH_BAD_SIZE);
  EXPECT_EQ(bytes, 0u);
  call.page_table = nullptr;
  call.prefix_keys = 64;
  call.prefix_group = 3;
  EXPECT_EQ(sawtooth_decode_workspace_bytes(&call, &bytes), SAWTOOTH_OK) << sawtooth_last_message();
  call.prefix_keys = 65;
  EXPECT_EQ(sawtooth_decode_workspace_bytes(&call, &bytes), SAWTOOTH_BAD_SIZE);
  call.version = 2;
  EXPECT_EQ(sawtooth_decode_workspace_bytes(&call, &bytes), SAWTOOTH_BAD_VERSION);
}

}  // namespace
}  // namespace sawtooth::kernels
