// Priorities and the set-aside, by hand: small letters are evict_first, capitals normal, digits
// evict_last. Sets have four ways, of which evict_last may hold three (3/4) where nothing is said.
#include <gtest/gtest.h>

#include "tests/sim/sets/trace_of_letters.hpp"

namespace sawtooth::sim {
namespace {

constexpr int64_t ways = 4;

std::string with(SetPolicy policy, std::string_view trace, std::optional<int64_t> lines = {}) {
  SetsParameters parameters;
  parameters.ways = ways;
  parameters.policy = policy;
  if (lines) parameters.set_aside_bytes = *lines * parameters.line_bytes;
  return tests::hits_and_misses(trace, 1, parameters, true);
}

using enum SetPolicy;

TEST(Priorities, EvictFirstLeavesFirstHoweverRecentItIs) {
  // a A B C fill. a hits and is the most recent, yet D(a). A B C hit.
  EXPECT_EQ(with(lru, "aABCaDABC"), "MMMMHMHHH");
}

TEST(Priorities, EvictFirstTakesANormalLineWhereItsKindIsAbsent) {
  // A B C D, a(A), then b(a) and not B; B hits.
  EXPECT_EQ(with(lru, "ABCDabB"), "MMMMMMH");
}

TEST(Priorities, EvictLastStaysWhileOthersAreThere) {
  // 1 A B C, D(A) though 1 is older, A(B) B(C); 1 hits.
  EXPECT_EQ(with(lru, "1ABCDAB1"), "MMMMMMMH");
}

TEST(Priorities, EvictLastThrashesInItsSetAsideAndLeavesTheRest) {
  // 1 2 3 hold the set-aside, so 4(1) although a way is empty. A takes that way, B(A), A(B): one
  // way is all that the others have. 4 3 2 hit.
  EXPECT_EQ(with(lru, "1234ABA432"), "MMMMMMMHHH");
}

TEST(Priorities, EveryTensorIsNormalUnlessToldOtherwise) {
  for (const Priority priority : SetsParameters{}.priorities) EXPECT_EQ(priority, Priority::normal);
}

TEST(Priorities, OthersUseWhatEvictLastLeavesFree) {
  // Nothing is evict_last: A B C D use all four ways and hit.
  EXPECT_EQ(with(lru, "ABCDABCD"), "MMMMHHHH");
}

TEST(Priorities, SmallerSetAsideHoldsFewerLines) {
  // One line of set-aside is one way of the set: 1, 2(1), 1(2). A B C use the other three and hit.
  EXPECT_EQ(with(lru, "121ABCABC", 1), "MMMMMMHHH");
}

TEST(Priorities, EvictLastIsNormalWithoutASetAside) {
  // 1 A B C, D(1) as in any LRU, 1(A).
  EXPECT_EQ(with(lru, "1ABCD1A", 0), "MMMMMMM");
}

TEST(Priorities, FifoChoosesInsideAPriority) {
  // A a B b fill; A and a hit, which FIFO ignores. C(a), the older of the two evict_first; D(b);
  // then normal ones are left: E(A). B hits.
  EXPECT_EQ(with(fifo, "AaBbAaCDEB"), "MMMMHHMMMH");
}

TEST(Priorities, TreePlruTurnsAsideWhereItsBitPointsAtHigherPriority) {
  // A B fill ways 0, 1 and a b ways 2, 3. The bits now point at way 0, the oldest, but its half has
  // no evict_first: C takes way 2 or 3, and of these the one its bit points at: b was last, so a in
  // way 2 leaves. b hits, A B hit.
  EXPECT_EQ(with(plru, "ABabCbABa"), "MMMMMHHHM");
}

}  // namespace
}  // namespace sawtooth::sim
