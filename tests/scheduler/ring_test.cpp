// Ring attention's calls: every visible pair of a row and a key once, equal work under zigzag.
#include "scheduler/ring.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace sawtooth {
namespace {

/// Calls visit(row of the sequence, key of the sequence) for what `call` computes.
template <class Visit>
void for_each_pair(const Ring& ring, int64_t rank, int64_t step, const RingCall& call,
                   Visit visit) {
  for (int64_t row = call.q_rows.begin; row < call.q_rows.end; ++row)
    for (int64_t key = call.kv_rows.begin; key < call.kv_rows.end; ++key) {
      // The kernel's causal mask counts rows and keys of the call from its ends.
      const int64_t seen = row - call.q_rows.begin + call.kv_rows.size() - call.q_rows.size();
      if (call.mask == MaskKind::causal && key - call.kv_rows.begin > seen) continue;
      visit(ring.sequence_row(rank, row), ring.sequence_row(ring.source(rank, step), key));
    }
}

template <class Check>
void for_each_ring(Check check) {
  for (const RingLayout layout : {RingLayout::plain, RingLayout::zigzag})
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
      for (int64_t ranks = 1; ranks <= 5; ++ranks)
        for (const int64_t chunk : {1, 3})
          check(Ring{ranks, layout, mask, chunk * ranks * (layout == RingLayout::zigzag ? 2 : 1)});
}

TEST(Ring, GivesEveryRowOfTheSequenceToOneRank) {
  for_each_ring([](const Ring& ring) {
    std::set<int64_t> rows;
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      for (int64_t row = 0; row < ring.rank_rows(); ++row)
        rows.insert(ring.sequence_row(rank, row));
    EXPECT_EQ(int64_t(rows.size()), ring.seq);
    EXPECT_EQ(*rows.begin(), 0);
    EXPECT_EQ(*rows.rbegin(), ring.seq - 1);
  });
}

TEST(Ring, CoversEveryVisiblePairOnce) {
  for_each_ring([](const Ring& ring) {
    std::vector<int> times(size_t(ring.seq * ring.seq), 0);
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      for (int64_t step = 0; step < ring.ranks; ++step) {
        RingCall call;
        if (!ring.call_of(rank, step, call)) continue;
        for_each_pair(ring, rank, step, call,
                      [&](int64_t row, int64_t key) { ++times[size_t(row * ring.seq + key)]; });
      }
    for (int64_t row = 0; row < ring.seq; ++row)
      for (int64_t key = 0; key < ring.seq; ++key)
        ASSERT_EQ(times[size_t(row * ring.seq + key)],
                  ring.mask == MaskKind::none || key <= row ? 1 : 0)
            << "ranks " << ring.ranks << ", row " << row << ", key " << key;
  });
}

TEST(Ring, BeginsEveryRowOnceAndFinishesItAtItsLastCall) {
  for_each_ring([](const Ring& ring) {
    for (int64_t rank = 0; rank < ring.ranks; ++rank) {
      std::vector<int> begun(size_t(ring.rank_rows()), 0);
      std::vector<char> finished(size_t(ring.rank_rows()), 0);
      for (int64_t step = 0; step < ring.ranks; ++step) {
        RingCall call;
        if (!ring.call_of(rank, step, call)) continue;
        for (int64_t row = call.q_rows.begin; row < call.q_rows.end; ++row) {
          begun[size_t(row)] += call.begins;
          EXPECT_EQ(call.begins, step == 0);
          finished[size_t(row)] = call.finishes;
        }
      }
      EXPECT_EQ(begun, std::vector<int>(begun.size(), 1));
      EXPECT_EQ(finished, std::vector<char>(finished.size(), 1)) << "rank " << rank;
    }
  });
}

TEST(Ring, HasEqualWorkInEveryStepUnderZigzagAndCausal) {
  for (int64_t ranks = 2; ranks <= 6; ++ranks) {
    const int64_t chunk = 8;
    const Ring ring{ranks, RingLayout::zigzag, MaskKind::causal, 2 * ranks * chunk};
    for (int64_t step = 0; step < ranks; ++step)
      for (int64_t rank = 0; rank < ranks; ++rank) {
        RingCall call;
        ASSERT_TRUE(ring.call_of(rank, step, call));
        int64_t pairs = 0;
        for_each_pair(ring, rank, step, call, [&](int64_t, int64_t) { ++pairs; });
        // Two chunks against one or one against two; its own rows half of two against two.
        EXPECT_EQ(pairs, step == 0 ? 2 * chunk * (2 * chunk + 1) / 2 : 2 * chunk * chunk);
      }
  }
}

}  // namespace
}  // namespace sawtooth
