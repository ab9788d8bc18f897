// What a launch hands to a kernel, checked without a GPU: a schedule that the kernel knows and that
// reaches every item, and a workspace whose parts lie apart.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/launch.hpp"
#include "kernels/attention/workspace.hpp"
#include "tests/kernels/calls.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t ragged_seq = 300;  // several Q and K/V tiles of every tiling, the last one short

AttentionForward call_of(const KernelVariant& variant, int launch, int scan, int64_t kv_split) {
  AttentionForward call;
  call.problem = {.batch = 2, .heads = 4, .kv_heads = 2, .seq_q = ragged_seq, .seq_kv = ragged_seq};
  set_variant(call, variant);
  call.schedule = {.launch = {launch}, .scan = {scan}, .workers = 3, .kv_split = kv_split};
  call.q = call.k = call.v = call.o = somewhere;
  return call;
}

/// Visits every call that `check` accepts, with its variant and the arguments of its kernel.
template <class Visit>
void for_each_call(Visit visit) {
  int calls = 0;
  for (const KernelVariant& variant : kernel_variants())
    for (int launch = 0; launch < Launches::size; ++launch)
      for (int scan = 0; scan < Scans::size; ++scan)
        for (const int64_t kv_split : {1, 2, 4}) {
          const AttentionForward call = call_of(variant, launch, scan, kv_split);
          if (!check(call)) continue;
          ++calls;
          std::vector<char> workspace(workspace_bytes(call));
          visit(call, variant, arguments_of(call, variant.tiling, call.schedule, workspace.data()),
                workspace.data());
        }
  EXPECT_GT(calls, 0);
}

/// How often each item is taken by kernels that know grid, static and dynamic, as launch.hpp says
/// it: one item a CTA, or w, w + W ..., or tickets until they run out. `balanced` they do not know,
/// and their CTAs have no second item.
std::vector<int> times_taken(const Schedule& schedule, int64_t ctas, int64_t items) {
  std::vector<int> times(size_t(items), 0);
  for (int64_t cta = 0; cta < ctas; ++cta)
    if (schedule.launch == launch_id<StaticLaunch>)
      for (int64_t item = cta; item < items; item += schedule.workers) ++times[size_t(item)];
    else if (schedule.launch != launch_id<DynamicLaunch> && cta < items)
      ++times[size_t(cta)];
  if (schedule.launch == launch_id<DynamicLaunch>) std::fill(times.begin(), times.end(), 1);
  return times;
}

TEST(ForwardArguments, ReachEveryItemInKernelsThatMergeNoPieces) {
  int calls = 0;
  for_each_call([&](const AttentionForward& call, const KernelVariant& variant,
                    const ForwardArguments& arguments, char*) {
    if (variant.merges_pieces) return;
    ++calls;
    const int64_t items = item_count(call.problem, variant.tiling, call.schedule);
    const bool grid = call.schedule.launch == launch_id<GridLaunch>;
    ASSERT_GT(items, call.schedule.workers);
    ASSERT_EQ(times_taken(arguments.schedule, grid ? items : call.schedule.workers, items),
              std::vector<int>(size_t(items), 1))
        << variant.family << ", launch " << call.schedule.launch.index << ", kv-split "
        << call.schedule.kv_split;
  });
  EXPECT_GT(calls, 0);
}

// The schedule of the call is what the simulator replays and what the order trace is judged by.
TEST(ForwardArguments, HaveTheItemsAndScansOfTheCall) {
  for_each_call([](const AttentionForward& call, const KernelVariant& variant,
                   const ForwardArguments& arguments, char*) {
    const Problem& problem = call.problem;
    const int64_t items = item_count(problem, variant.tiling, call.schedule);
    ASSERT_EQ(item_count(problem, variant.tiling, arguments.schedule), items);
    for (int64_t index = 0; index < items; ++index) {
      const Item asked = item_at(problem, variant.tiling, call.schedule, index);
      const Item given = item_at(problem, variant.tiling, arguments.schedule, index);
      ASSERT_EQ(std::tuple(given.batch, given.head, given.own_tile, given.part, given.pieces),
                std::tuple(asked.batch, asked.head, asked.own_tile, asked.part, asked.pieces));
      ASSERT_EQ(given.scanned, asked.scanned);
      const int64_t turn = index / call.schedule.workers;
      const ScanContext asked_scan = scan_context(call.schedule, asked, turn, 0);
      const ScanContext given_scan = scan_context(arguments.schedule, given, turn, 0);
      for (int64_t step = 0; step < asked_scan.tiles; ++step)
        ASSERT_EQ(scanned_tile_at(arguments.schedule, given, given_scan, step),
                  scanned_tile_at(call.schedule, asked, asked_scan, step));
    }
  });
}

TEST(ForwardArguments, HaveNoSectionOfMoreThanAllHeads) {
  for_each_call([](AttentionForward call, const KernelVariant& variant, const ForwardArguments&,
                   char* workspace) {
    call.schedule.order.section = std::numeric_limits<int64_t>::max();
    ASSERT_TRUE(check(call));
    ASSERT_EQ(arguments_of(call, variant.tiling, call.schedule, workspace).schedule.order.section,
              call.problem.batch * call.problem.heads * call.schedule.kv_split);
  });
}

TEST(ForwardArguments, HaveAPrefetchThatAddsToAStepIn32BitsAndStillLiesPastTheLastTile) {
  for_each_call([](AttentionForward call, const KernelVariant& variant, const ForwardArguments&,
                   char* workspace) {
    call.problem.seq_kv = std::numeric_limits<int32_t>::max();
    call.schedule.prefetch = std::numeric_limits<int64_t>::max();
    ASSERT_TRUE(check(call)) << check(call).message;
    const int64_t tiles = kv_tiles(call.problem, variant.tiling);
    const int64_t prefetch =
        arguments_of(call, variant.tiling, call.schedule, workspace).schedule.prefetch;
    ASSERT_GE(prefetch, tiles);
    ASSERT_LE(prefetch, std::numeric_limits<int32_t>::max() - tiles);
  });
}

// Tickets and arrivals that one call leaves as zeros are found by any other.
TEST(ForwardArguments, HaveAStateInOnePlaceThatNoOtherDataOfAnyCallTouches) {
  for_each_call([](const AttentionForward& call, const KernelVariant& variant,
                   const ForwardArguments& arguments, char* workspace) {
    const char* const end = workspace + workspace_state_bytes;
    ASSERT_EQ(static_cast<void*>(arguments.ticket), workspace);
    ASSERT_GE(static_cast<void*>(arguments.piece_arrivals), workspace + sizeof(unsigned long long));
    AttentionForward most = call;
    most.schedule.workers = most_balanced_workers;
    if (cuts_last_wave(most.schedule)) {
      const int64_t pieces = last_wave(call.problem, variant.tiling, most.schedule).most_pieces();
      constexpr int64_t warp_rows = 16;
      ASSERT_LE(reinterpret_cast<const char*>(arguments.piece_arrivals +
                                              pieces * variant.tiling.q_rows / warp_rows),
                end);
    }
    for (const void* data : {static_cast<const void*>(arguments.attach_tiles),
                             static_cast<const void*>(arguments.pieces)})
      ASSERT_GE(data, end);
    const void* const parts = arguments.partial_o;
    ASSERT_TRUE(parts == nullptr || parts >= end);
    ASSERT_GE(workspace_bytes(call), workspace_state_bytes);
  });
}

TEST(ForwardArguments, HavePartsOfTheWorkspaceThatLieApart) {
  for_each_call([](const AttentionForward& call, const KernelVariant& variant,
                   const ForwardArguments& arguments, char* workspace) {
    const Problem& problem = call.problem;
    const bool split = call.schedule.kv_split > 1;
    const int64_t rows = problem.batch * problem.heads * problem.seq_q;
    const int64_t part_rows = split ? rows * call.schedule.kv_split : 0;
    const bool cut = cuts_last_wave(call.schedule);
    const int64_t pieces =
        cut ? last_wave(problem, variant.tiling, call.schedule).most_pieces() : 0;
    const int64_t piece_rows = pieces * variant.tiling.q_rows;
    constexpr int64_t warp_rows = 16;  // an arrival counter for each
    std::vector<std::pair<const void*, int64_t>> parts = {
        {arguments.ticket, int64_t(sizeof(unsigned long long))},
        {arguments.piece_arrivals, piece_rows / warp_rows * int64_t(sizeof(unsigned))},
        {arguments.pieces,
         piece_rows * (problem.v_dim() + piece_floats_beside_o) * int64_t(sizeof(float))}};
    if (split) {
      parts.emplace_back(arguments.partial_o, part_rows * problem.v_dim() * int64_t(sizeof(float)));
      parts.emplace_back(arguments.partial_lse, part_rows * int64_t(sizeof(float)));
    }
    if (call.schedule.scan == scan_id<AttachScan>)
      parts.emplace_back(arguments.attach_tiles,
                         problem.batch * problem.kv_heads * int64_t(sizeof(int)));
    std::erase_if(parts, [](const auto& part) { return part.second == 0; });
    std::sort(parts.begin(), parts.end());
    const char* free_from = workspace;
    for (const auto& [begin, bytes] : parts) {
      ASSERT_GE(static_cast<const char*>(begin), free_from);
      free_from = static_cast<const char*>(begin) + bytes;
    }
    ASSERT_LE(free_from, workspace + workspace_bytes(call));
  });
}

}  // namespace
}  // namespace sawtooth::kernels
