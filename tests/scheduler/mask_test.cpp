#include "scheduler/mask.hpp"

#include <gtest/gtest.h>

#include "tests/support/brute_force.hpp"

namespace sawtooth {
namespace {

// Queries fewer than, as many as and more than keys, and windows up to beyond all keys.
TEST(Mask, VisiblePairsAreThoseOfTheDefinition) {
  std::vector<Mask> masks{{}, {MaskKind::causal, 0}};
  for (int64_t window = 1; window <= 11; ++window) masks.push_back({MaskKind::window, window});
  for (const Mask mask : masks) {
    for (int64_t seq_q = 1; seq_q <= 9; ++seq_q) {
      for (int64_t seq_kv = 1; seq_kv <= 9; ++seq_kv) {
        const Problem problem{.seq_q = seq_q, .seq_kv = seq_kv, .mask = mask};
        int pairs = 0;
        for (int64_t row = 0; row < seq_q; ++row) {
          for (int64_t key = 0; key < seq_kv; ++key) pairs += tests::sees(problem, row, key);
        }
        EXPECT_EQ(visible_pairs(mask, seq_q, seq_kv), pairs)
            << "kind " << int(mask.kind) << ", window " << mask.window << ", " << seq_q << " x "
            << seq_kv;
      }
    }
  }
}

// 2^40 rows of a window of two keys: the first sees one, all others two.
TEST(Mask, VisiblePairsOfTheLongestSequencesAreCountedAtOnce) {
  const int64_t seq = int64_t{1} << 40;
  EXPECT_EQ(visible_pairs({MaskKind::window, 2}, seq, seq), 2 * double(seq) - 1);
}

}  // namespace
}  // namespace sawtooth
