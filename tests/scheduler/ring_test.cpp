// Ring attention's calls: every visible pair of a row and a key once, equal work under zigzag.
#include "scheduler/ring.hpp"

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

// Step s reads buffer s mod 2. A move goes to it as soon as the call two steps before has read it.
TEST(Ring, MovesKeysAsSoonAsTheirBufferIsFree) {
  for_each_ring([](const Ring& ring) {
    for (int64_t moved = 1; moved < ring.ranks; ++moved) {
      const int64_t last_reader = moved - 2;  // step 0 reads the rank's own
      const int64_t begins = last_reader <= 0 ? 0 : last_reader + 1;
      for (int64_t step = 0; step < ring.ranks; ++step) {
        const Range moves = ring.moves_beside(step);
        EXPECT_EQ(moves.begin <= moved && moved < moves.end, step == begins)
            << ring.ranks << " ranks, move " << moved << ", step " << step;
      }
    }
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

/// A sum that parts are written over or added to, and that is taken at times.
struct Gradient {
  std::vector<int64_t> sums, taken;
  void add(const Range& rows, const std::vector<int64_t>& part, bool begins, bool finishes) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      int64_t& sum = sums[size_t(row)];
      sum = (begins ? 0 : sum) + part[size_t(row - rows.begin)];
      if (finishes) taken[size_t(row)] = sum;
    }
  }
};

// Each pair of a row and a key stands for a number of its own; a row's gradient is the sum over its
// keys, a key's that over its rows.
TEST(Ring, AddsUpGradientsOfRowsAtHomeAndOfKeysAtTheirOwner) {
  for_each_ring([](const Ring& ring) {
    const auto number = [](int64_t row, int64_t key) { return 1 + 7 * row * row + 13 * key; };
    const std::vector<int64_t> wrong(size_t(ring.rank_rows()), -1000000);
    std::vector<Gradient> of_rows(size_t(ring.ranks), Gradient{wrong, wrong}), of_keys = of_rows;
    for (int64_t step = 0; step < ring.ranks; ++step)
      for (int64_t rank = 0; rank < ring.ranks; ++rank) {
        RingCall call;
        RingReturn back;
        const int64_t owner = ring.source(rank, step);
        if (!ring.call_of(rank, step, call)) continue;
        ASSERT_TRUE(ring.return_of(owner, step, back));
        std::vector<int64_t> row_part(size_t(call.q_rows.size()), 0),
            key_part(size_t(call.kv_rows.size()), 0);
        for (int64_t row = call.q_rows.begin; row < call.q_rows.end; ++row)
          for (int64_t key = call.kv_rows.begin; key < call.kv_rows.end; ++key) {
            const int64_t seq_row = ring.sequence_row(rank, row);
            const int64_t seq_key = ring.sequence_row(owner, key);
            if (call.mask == MaskKind::causal && seq_key > seq_row) continue;
            row_part[size_t(row - call.q_rows.begin)] += number(seq_row, seq_key);
            key_part[size_t(key - call.kv_rows.begin)] += number(seq_row, seq_key);
          }
        of_rows[size_t(rank)].add(call.q_rows, row_part, call.begins, call.finishes);
        of_keys[size_t(owner)].add(back.kv_rows, key_part, back.begins, back.finishes);
      }
    for (int64_t rank = 0; rank < ring.ranks; ++rank)
      for (int64_t i = 0; i < ring.rank_rows(); ++i) {
        const int64_t at = ring.sequence_row(rank, i);
        int64_t row_sum = 0, key_sum = 0;
        for (int64_t other = 0; other < ring.seq; ++other) {
          if (ring.mask == MaskKind::none || other <= at) row_sum += number(at, other);
          if (ring.mask == MaskKind::none || at <= other) key_sum += number(other, at);
        }
        ASSERT_EQ(of_rows[size_t(rank)].taken[size_t(i)], row_sum) << "row " << at;
        ASSERT_EQ(of_keys[size_t(rank)].taken[size_t(i)], key_sum) << "key " << at;
      }
  });
}

// No row of an earlier rank sees the second chunk of a later rank's keys.
TEST(Ring, ReturnsHalfOfTheKeysFromLaterRanksUnderZigzagAndCausal) {
  const Ring ring{3, RingLayout::zigzag, MaskKind::causal, 6 * 4};
  RingReturn part;
  ASSERT_TRUE(ring.return_of(0, 1, part));
  EXPECT_EQ(part.rank, 1);
  EXPECT_EQ(part.kv_rows.size(), 4);
  ASSERT_TRUE(ring.return_of(2, 1, part));
  EXPECT_EQ(part.rank, 0);
  EXPECT_EQ(part.kv_rows.size(), 8);
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
