// Calls over packed sequences: what they refuse, and the items that their kernels are given; no GPU
// is needed.
#include "kernels/attention/packed.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/attention.h"
#include "kernels/attention/launch.hpp"
#include "kernels/attention/variant_list.hpp"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

const std::vector<int32_t> q_rows{0, 300, 300, 1000, 1001};  // lengths 300, 0, 700, 1
const std::vector<int32_t> kv_rows{0, 10, 20, 900, 900};     // lengths 10, 10, 880, 0

AttentionForward valid_call() {
  AttentionForward call;
  call.problem = {.batch = 4, .heads = 4, .kv_heads = 2, .head_dim = 128};
  call.packed = {.q = q_rows.data(), .kv = kv_rows.data()};
  call.q = call.k = call.v = call.o = somewhere;
  return call;
}

TEST(PackedChecks, AcceptSequencesWithoutQueriesAndWithoutKeys) {
  EXPECT_EQ(check(valid_call()).message, "");
}

TEST(PackedChecks, WithoutAnyQueryThereIsNothingToCheckAndNothingToDo) {
  const std::vector<int32_t> none(5, 0);
  AttentionForward call = valid_call();
  call.packed.q = none.data();
  call.q = call.o = nullptr;
  EXPECT_EQ(check(call).message, "");
}

TEST(PackedChecks, RefuseRowsThatAreMissingOrBeginBehindZeroOrFall) {
  AttentionForward call = valid_call();
  call.packed.kv = nullptr;
  expect_refused(check(call), Status::null_pointer, "packed.kv is a null pointer");
  const std::vector<int32_t> begins_late{1, 300, 300, 1000, 1001}, falls{0, 300, 299, 1000, 1001};
  call = valid_call();
  call.packed.q = begins_late.data();
  expect_refused(check(call), Status::bad_size, "packed.q begins with 1; allowed: 0");
  call.packed.q = falls.data();
  expect_refused(check(call), Status::bad_size, "falls from 300 to 299 at sequence 1");
}

TEST(PackedChecks, RefuseWhatTheirKernelsDoNotHave) {
  AttentionForward call = valid_call();
  call.schedule.kv_split = 2;
  expect_refused(check(call), Status::bad_schedule, "kv_split is 2");
  call = valid_call();
  call.schedule.prefetch = 3;
  expect_refused(check(call), Status::bad_schedule, "prefetch is 3");
  call = valid_call();
  call.schedule.launch = launch_id<BalancedLaunch>;
  expect_refused(check(call), Status::bad_schedule,
                 "allowed with packed sequences: grid, static, dynamic");
  call = valid_call();
  call.running.o = reinterpret_cast<float*>(somewhere);
  expect_refused(check(call), Status::bad_schedule, "running results are given");
  call = valid_call();
  call.k_strides = {8, 128, 256};
  expect_refused(check(call), Status::misaligned, "k has a batch stride of 8");
}

TEST(PackedChecks, RefuseKernelsThatTakeOneLengthAlone) {
  for (const KernelVariant& variant : kernel_variants()) {
    AttentionForward call = valid_call();
    set_variant(call, variant);
    const std::string name = std::string(variant.name).substr(5);  // behind bf16_ or fp16_
    EXPECT_EQ(bool(check(call)), takes_packed(variant.family, name)) << variant.name;
    EXPECT_EQ(variant.packed_function != nullptr, takes_packed(variant.family, name));
  }
}

TEST(PackedChecks, TheCInterfaceRefusesUnknownOrdersAndTheBackwardPass) {
  sawtooth_attention call;
  sawtooth_attention_defaults(&call);
  call.packed_q = q_rows.data();
  call.packed_kv = kv_rows.data();
  call.batch = 4;
  call.heads = 4;
  call.kv_heads = 2;
  call.head_dim = 128;
  call.q = call.k = call.v = call.o = somewhere;
  size_t bytes = 0;
  EXPECT_EQ(sawtooth_attention_workspace_bytes(&call, &bytes), SAWTOOTH_OK);
  EXPECT_GT(bytes, sawtooth_workspace_state_bytes());
  call.sequence_order = "shortest";
  EXPECT_EQ(sawtooth_attention_workspace_bytes(&call, &bytes), SAWTOOTH_BAD_SCHEDULE);
  EXPECT_NE(std::string(sawtooth_last_message()).find("allowed: given, longest"),
            std::string::npos);
  call.sequence_order = nullptr;
  sawtooth_gradients gradients;
  sawtooth_gradients_defaults(&gradients);
  EXPECT_EQ(sawtooth_backward_workspace_bytes(&call, &gradients, &bytes), SAWTOOTH_BAD_SIZE);
}

/// What the kernel of `call` would read, at the addresses of a workspace on the host.
struct Tables {
  std::vector<PackedSequence> sequences;
  std::vector<WorkCoordinates> items;
};
Tables tables_of(const AttentionForward& asked, const KernelVariant& variant,
                 const Schedule& schedule) {
  const AttentionForward call = with_longest_lengths(asked);
  std::vector<char> workspace(1 << 20);
  const ForwardArguments arguments = arguments_of(call, variant.tiling, schedule, workspace.data());
  PackedTables made;
  const int64_t items = items_of_launch(call, variant.tiling);
  EXPECT_TRUE(make_packed_tables(call, variant, arguments, items, workspace.data(), made));
  EXPECT_LE(made.block.size(), table_bytes(call, variant.tiling));
  std::memcpy(made.on_device, made.block.data(), made.block.size());
  const PackedArguments& packed = made.arguments;
  return {{packed.sequences, packed.sequences + call.problem.batch + 1},
          {packed.schedule.order.list, packed.schedule.order.list + packed.items}};
}

TEST(PackedTables, HaveEachTileOfEachSequenceOnceTheLongestSequenceFirst) {
  AttentionForward call = valid_call();
  const KernelVariant* variant = find_variant(128, ElementType::bf16, {128, 64}, "mma");
  ASSERT_NE(variant, nullptr);
  const Schedule schedule{.order = {.section = 1}, .launch = launch_id<DynamicLaunch>};
  const Tables tables = tables_of(call, *variant, schedule);
  // 300 rows are 3 tiles of 128, 700 are 6, 1 is one, of 4 heads each. Of pairs of a query and a
  // key sequence 2 has the most, then 0; sequences 1 and 3 have none.
  std::vector<WorkCoordinates> expected;
  for (const auto& [sequence, tiles] : {std::pair{2, 6}, {0, 3}, {3, 1}})
    for (int head = 0; head < 4; ++head)
      for (int tile = 0; tile < tiles; ++tile) expected.push_back({sequence, head, tile, 0});
  EXPECT_EQ(tables.items, expected);
  EXPECT_EQ(tables.sequences[2].first_q, 300);
  EXPECT_EQ(tables.sequences[2].first_kv, 20);
  EXPECT_EQ(tables.sequences[2].seq_q, 700);
  EXPECT_EQ(tables.sequences[2].seq_kv, 880);

  call.packed.order = {SequenceOrders::index_of<GivenSequences>()};
  const Tables given = tables_of(call, *variant, schedule);
  EXPECT_EQ(given.items.front().batch, 0);
  EXPECT_EQ(given.items.back().batch, 3);
}

// 1001 rows of four sequences have 11 tiles of 128 at most: of the lengths 1, 1, 1 and 998.
TEST(PackedTables, HaveVoidItemsBehindTheOthersWhereLengthsMayChange) {
  AttentionForward call = valid_call();
  call.packed.may_change = true;
  const KernelVariant* variant = find_variant(128, ElementType::bf16, {128, 64}, "mma");
  ASSERT_NE(variant, nullptr);
  const Schedule schedule{.order = {.section = 1}, .launch = launch_id<DynamicLaunch>};
  const std::vector<int32_t> most_tiles{0, 1, 2, 3, 1001};
  for (const auto& [rows, tiles] : {std::pair{&q_rows, 10}, {&most_tiles, 11}}) {
    call.packed.q = rows->data();
    const Tables tables = tables_of(call, *variant, schedule);
    ASSERT_EQ(tables.items.size(), 11u * 4);
    for (size_t i = 0; i < tables.items.size(); ++i)
      EXPECT_EQ(tables.items[i].batch == call.problem.batch, i >= size_t(tiles) * 4) << i;
    const PackedSequence& of_none = tables.sequences.back();
    EXPECT_EQ(of_none.seq_q, 0);
    EXPECT_EQ(of_none.seq_kv, 0);
  }
}

TEST(PackedChecks, RefuseOtherLengthsOfPlansThatMayNotChange) {
  const AttentionPlan plan;
  const Outcome outcome = plan.set_rows(q_rows.data(), kv_rows.data(), nullptr);
  EXPECT_NE(outcome.message.find("made with may_change"), std::string::npos);
  AttentionForward call = valid_call();
  call.packed.may_change = true;
  EXPECT_EQ(check(call).message, "");
  call.schedule.scan = scan_id<AttachScan>;
  expect_refused(check(call), Status::bad_schedule, "scan is attach");
}

TEST(PackedTables, HaveTheItemsOfOneLengthInTheOrderOfTheSchedule) {
  const std::vector<int32_t> equal{0, 500, 1000, 1500, 2000};
  AttentionForward call = valid_call();
  call.packed = {.q = equal.data(), .kv = equal.data()};
  const KernelVariant* variant = find_variant(128, ElementType::bf16, {128, 64}, "mma");
  ASSERT_NE(variant, nullptr);
  for (int q_order = 0; q_order < QOrders::size; ++q_order)
    for (const int64_t section : {1, 3, 16}) {
      const Schedule schedule{.order = {.section = section, .q_order = {q_order}}};
      const Tables tables = tables_of(call, *variant, schedule);
      Problem one_length = call.problem;
      one_length.seq_q = one_length.seq_kv = 500;
      ASSERT_EQ(int64_t(tables.items.size()),
                whole_item_count(one_length, variant->tiling, schedule));
      for (size_t i = 0; i < tables.items.size(); ++i) {
        const Item item = item_at(one_length, variant->tiling, schedule, int64_t(i));
        EXPECT_EQ(tables.items[i], (WorkCoordinates{item.batch, item.head, item.own_tile, 0}));
      }
    }
}

}  // namespace
}  // namespace sawtooth::kernels
