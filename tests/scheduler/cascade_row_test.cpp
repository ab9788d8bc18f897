// Cascades under equal shares, as kernels walk them: the same items at the same tiles as in the
// simulator, and pieces that no two items share.
#include "scheduler/cascade_row.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler/item_shares.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"
#include "tests/support/serving.hpp"

namespace sawtooth {
namespace {

using tests::between;

/// A cascade over K/V heads with packed rows, of sequences as they are numbered.
struct PackedCascade {
  tests::ServingProblem serving;
  PackedCascade() {
    tests::make_serving_problem(serving, {.prefix = true, .cascade = true});
    Problem& problem = serving.request.problem;
    problem.kv_heads = problem.heads;
    problem.mask = {};
    serving.request.schedule.order = {};
    serving.request.sequences.order = nullptr;
    serving.share();
  }
};

RC_GTEST_PROP(CascadeRow, HasItemsAtTheTilesWhereTheSimulatorWalksThem, ()) {
  PackedCascade any;
  const sim::Request& request = any.serving.request;
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Cascade cascade(problem, tiling, request.sequences.prefix);
  const int64_t prefix_tiles = request.sequences.prefix.tiles(tiling.kv_rows);
  const CascadeRow row(cascade, problem.heads, prefix_tiles);
  const std::vector<int64_t>& before = any.serving.before;
  int64_t tiles_before = 0;
  for (int64_t sequence = 0; sequence < problem.batch; ++sequence) {
    const int64_t own =
        request.sequences.of(problem, sequence).seq_kv - prefix_tiles * tiling.kv_rows;
    const int64_t tiles = max_of(1, ceil_div(own, tiling.kv_rows));
    for (int64_t head = 0; head < problem.heads; ++head) {
      const int64_t item = cascade.prefix_items() + sequence * problem.heads + head;
      const Range at = row.own_item(head, tiles_before, tiles);
      RC_ASSERT(at.begin == before[size_t(item)]);
      RC_ASSERT(at.end == before[size_t(item) + 1]);
      const Item walked =
          cascade_item_at(problem, tiling, request.schedule, request.sequences, cascade, item);
      RC_ASSERT(walked.batch == sequence);
      RC_ASSERT(walked.head == head);
      const Range of_prefix = row.prefix_item(cascade.prefix_item(sequence, head));
      RC_ASSERT(of_prefix.begin == before[size_t(cascade.prefix_item(sequence, head))]);
      RC_ASSERT(of_prefix.size() == prefix_tiles);
    }
    tiles_before += tiles;
  }
  RC_ASSERT(row.own_begin() + tiles_before * problem.heads == before.back());
}

RC_GTEST_PROP(CascadePieces, HaveSlotsThatNoOtherItemHas, ()) {
  PackedCascade any;
  const sim::Request& request = any.serving.request;
  const KvShares& shares = request.shares.row();
  std::set<int64_t> slots;
  for (int64_t item = 0; item < request.shares.items(); ++item) {
    const Range tiles{any.serving.before[size_t(item)], any.serving.before[size_t(item) + 1]};
    const CascadePieces pieces = cascade_pieces(shares, item, tiles);
    for (int64_t share = pieces.of.first; share <= pieces.of.last; ++share) {
      RC_ASSERT(slots.insert(pieces.slot(share)).second);
      RC_ASSERT(pieces.slot(share) < 2 * shares.count() + request.shares.items());
    }
  }
}

// Blocks of 16: rows 12 to 23 lie in two of them, 16 to 31 in one, 0 to 31 in two.
TEST(CascadeRow, CountsBlocksOfRowsAsWorkedOutByHand) {
  EXPECT_EQ(row_blocks_of(0, 12, 16), 1);
  EXPECT_EQ(row_blocks_of(12, 12, 16), 2);
  EXPECT_EQ(row_blocks_of(16, 16, 16), 1);
  EXPECT_EQ(row_blocks_of(0, 32, 16), 2);
}

}  // namespace
}  // namespace sawtooth
