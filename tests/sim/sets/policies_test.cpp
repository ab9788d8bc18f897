// Every policy on traces whose hits and misses are derived by hand, from published examples where
// there are any. "4(1)" in a comment: 4 misses, and 1 leaves.

#include <gtest/gtest.h>

#include "tests/sim/sets/trace_of_letters.hpp"

namespace sawtooth::sim {
namespace {

using tests::hits_and_misses;
using tests::in_one_set;
using enum SetPolicy;

// Silberschatz, Galvin and Gagne, "Operating System Concepts", chapter Virtual Memory, page
// replacement in three frames: 15 misses with FIFO, 12 with LRU, 9 with the optimum.
constexpr std::string_view textbook = "70120304230321201701";

TEST(SetPolicies, TextbookStringMissesFifteenTwelveAndNineTimes) {
  // 7 0 1 2(7) 0+ 3(0) 0(1) 4(2) 2(3) 3(0) 0(4) 3+ 2+ 1(2) 2(3) 0+ 1+ 7(0) 0(1) 1(2)
  EXPECT_EQ(in_one_set(textbook, 3, fifo), "MMMMHMMMMMMHHMMHHMMM");
  // 7 0 1 2(7) 0+ 3(1) 0+ 4(2) 2(3) 3(0) 0(4) 3+ 2+ 1(0) 2+ 0(3) 1+ 7(2) 0+ 1+
  EXPECT_EQ(in_one_set(textbook, 3, lru), "MMMMHMHMMMMHHMHMHMHH");
  // 7 0 1 2(7) 0+ 3(1) 0+ 4(0) 2+ 3+ 0(4) 3+ 2+ 1(3) 2+ 0+ 1+ 7(2) 0+ 1+
  EXPECT_EQ(in_one_set(textbook, 3, opt), "MMMMHMHMHHMHHMHHHMHH");
}

// The state table of the four-way tree in the Embedded Pentium Processor Family Developer's Manual
// (Intel 1998, figure 3-7). Bits are B0 (root), B1 (ways 0, 1) and B2 (ways 2, 3); a use of way 0
// gives 11_, way 1 10_, way 2 0_1, way 3 0_0, and 00x replaces way 0, 01x 1, 1x0 2, 1x1 3.
TEST(SetPolicies, TreePlruFollowsIntelsTable) {
  // A B C D fill ways 0 to 3: 110 100 001 000. A hits: 110. E sees 1x0 and takes way 2 from C,
  // where LRU would take B: 011. F sees 01x, way 1 from B: 101. A hits: 111. B sees 1x1, way 3 from
  // D: 010. C sees 01x, way 1 from F: 100. E hits in way 2: 001. D sees 00x, way 0 from A.
  EXPECT_EQ(in_one_set("ABCDAEFABCEDA", 4, plru), "MMMMHMMHMMHMM");
}

TEST(SetPolicies, RandomVictimsComeFromTheDocumentedSequence) {
  // Two ways in set 0, seed 7. A and B fill them. The n-th victim is way
  // mix_seed(mix_seed(7, 0), n) mod 2; C replaces A or B, and whoever stayed hits.
  const uint64_t first = mix_seed(mix_seed(7, 0), 0) % 2;
  SetsParameters parameters;
  parameters.ways = 2;
  parameters.policy = random;
  parameters.seed = 7;
  EXPECT_EQ(hits_and_misses(first == 0 ? "ABCB" : "ABCA", 1, parameters), "MMMH");
}

// Patterson and Hennessy, "Computer Organization and Design", section "Reducing Cache Misses by
// More Flexible Placement of Blocks": blocks 0 8 0 6 8 in a cache of four.
TEST(Associativity, TextbookBlocksMissFiveFourAndThreeTimes) {
  const std::string_view blocks("\x00\x08\x00\x06\x08", 5);
  SetsParameters parameters;
  parameters.hash = HashKind::modulo;
  parameters.ways = 1;  // 0 and 8 meet in set 0, 6 is alone in set 2
  EXPECT_EQ(hits_and_misses(blocks, 4, parameters), "MMMMM");
  parameters.ways = 2;  // all in set 0: 0 8 0+ 6(8) 8(0)
  EXPECT_EQ(hits_and_misses(blocks, 2, parameters), "MMHMM");
  parameters.ways = 4;  // 0 8 0+ 6 8+
  EXPECT_EQ(hits_and_misses(blocks, 1, parameters), "MMHMH");
}

}  // namespace
}  // namespace sawtooth::sim
