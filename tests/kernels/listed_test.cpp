// Calls under a mask that is lists of tiles: what they refuse, and which kernel runs them; no GPU
// is needed.
#include <string>

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "kernels/attention/automatic.hpp"
#include "kernels/attention/backward.hpp"
#include "kernels/attention/choice.hpp"
#include "kernels/attention/decode.hpp"
#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

AttentionForward valid_call(int64_t head_dim = 128) {
  AttentionForward call;
  call.problem = {.heads = 4, .kv_heads = 2, .seq_q = 900, .seq_kv = 700, .head_dim = head_dim};
  call.problem.mask.kind = MaskKind::listed;
  call.family = families::mma;
  call.tiling = {128, head_dim == 128 ? 64 : 128};
  call.q = call.k = call.v = call.o = somewhere;
  call.lists.entries = {reinterpret_cast<const int64_t*>(somewhere),
                        reinterpret_cast<const int32_t*>(somewhere)};
  return call;
}

TEST(ListedChecks, AcceptListsWithAndWithoutSpans) {
  EXPECT_EQ(check(valid_call()).message, "");
  AttentionForward call = valid_call(64);
  call.lists.spans = reinterpret_cast<const KeySpans*>(somewhere);
  EXPECT_EQ(check(call).message, "");
}

TEST(ListedChecks, RefuseListsThatAreMissingOrMisaligned) {
  AttentionForward call = valid_call();
  call.lists.entries.tiles = nullptr;
  expect_refused(check(call), Status::null_pointer, "lists.entries is a null pointer");
  call = valid_call();
  call.lists.entries.begin = nullptr;
  expect_refused(check(call), Status::null_pointer, "lists.entries is a null pointer");
  call = valid_call();
  call.lists.spans = reinterpret_cast<const KeySpans*>(somewhere + 8);
  expect_refused(check(call), Status::misaligned, "spans to 16");
  call = valid_call();
  call.lists.entries.begin = reinterpret_cast<const int64_t*>(somewhere + 4);
  expect_refused(check(call), Status::misaligned, "begin to 8 bytes");
}

TEST(ListedChecks, RefuseACallThatDoesNotSayWhichTilesItsEntriesCount) {
  AttentionForward call = valid_call();
  call.tiling = {0, 0};
  expect_refused(check(call), Status::unsupported_tiling, "tile is automatic");
}

TEST(ListedChecks, RefuseKernelsThatTakeNone) {
  AttentionForward call = valid_call();
  call.tiling = {64, 64};
  expect_refused(check(call), Status::unsupported_tiling,
                 "takes no lists of tiles; allowed: mma 128x128 at head_dim 64");
}

TEST(ListedChecks, RefuseWhatNoListsStandBeside) {
  const int32_t rows[] = {0, 4};
  AttentionForward call = valid_call();
  call.packed = {.q = rows, .kv = rows};
  expect_refused(check(call), Status::bad_size, "allowed with lists: neither");
  call = valid_call();
  call.running = {.o = reinterpret_cast<float*>(somewhere)};
  expect_refused(check(call), Status::bad_size, "allowed with lists: neither");
  AttentionBackward backward;
  backward.problem = call.problem;
  EXPECT_NE(check(backward).message.find("mask is a list of tiles"), std::string::npos);
  AttentionDecode decode;
  decode.problem = call.problem;
  EXPECT_NE(check(decode).message.find("mask is a list of tiles"), std::string::npos);
}

TEST(ListedCall, RunsTheKernelForListsOfItsTile) {
  for (const KernelVariant& variant : kernel_variants()) {
    AttentionForward call = valid_call();
    set_variant(call, variant);
    const KernelVariant* chosen = nullptr;
    const Outcome outcome = choose_variant(call, {}, chosen);
    EXPECT_EQ(bool(outcome), variant.listed_function != nullptr) << variant.family << variant.name;
    if (!outcome) continue;
    const MaskedKernel kernel = kernel_for(*chosen, call.problem);
    EXPECT_EQ(kernel.function, variant.listed_function);
    EXPECT_NE(kernel.function, variant.function);
    EXPECT_GE(kernel.shared_bytes, variant.shared_bytes);
  }
}

TEST(ListedCall, RunsTheFastestFamilyWhereItNamesNone) {
  if (find_variant(128, ElementType::bf16, {128, 128}, families::hopper) == nullptr)
    GTEST_SKIP() << "this build has no Hopper kernels";
  constexpr DeviceLimits h200{90, 227 * 1024, 132, 228 * 1024, 1024};
  AttentionForward call = valid_call();
  call.family = {};
  call.tiling = {128, 128};
  call.problem.heads = call.problem.kv_heads = 256;  // more items than CTAs
  const KernelVariant* chosen = nullptr;
  ASSERT_EQ(choose_variant(call, h200, chosen).message, "");
  EXPECT_EQ(std::string(chosen->family), families::hopper);
  const Schedule schedule = complete_schedule(automatic_schedule, call.problem, *chosen, h200, 0);
  EXPECT_EQ(schedule.launch, launch_id<DynamicLaunch>);  // items differ in length
}

TEST(ListedCApi, TakesListsBehindTheFieldsOfEarlierHeaders) {
  sawtooth_attention call;
  sawtooth_attention_defaults(&call);
  call.heads = call.kv_heads = 2;
  call.seq_q = call.seq_kv = 500;
  call.head_dim = 64;
  call.family = "mma";
  call.tile_q = call.tile_kv = 128;
  call.q = call.k = call.v = call.o = somewhere;
  call.mask = SAWTOOTH_MASK_LISTS;
  size_t bytes = 0;
  EXPECT_EQ(sawtooth_attention_workspace_bytes(&call, &bytes), SAWTOOTH_NULL_POINTER);
  call.list_begin = reinterpret_cast<const int64_t*>(somewhere);
  call.list_entries = reinterpret_cast<const int32_t*>(somewhere);
  EXPECT_EQ(sawtooth_attention_workspace_bytes(&call, &bytes), SAWTOOTH_OK)
      << sawtooth_last_message();
  call.list_spans = reinterpret_cast<const int32_t*>(somewhere + 4);
  EXPECT_EQ(sawtooth_attention_workspace_bytes(&call, &bytes), SAWTOOTH_MISALIGNED);
}

}  // namespace
}  // namespace sawtooth::kernels
