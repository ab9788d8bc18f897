// Priorities and the set-aside, by hand: small letters are evict_first, capitals normal, digits
// evict_last. Sets have four ways, of which evict_last may hold three (3/4) where nothing is said.
#include <gtest/gtest.h>

#include "tests/sim/sets/trace_of_letters.hpp"

namespace sawtooth::sim {
namespace {

using enum SetPolicy;

TEST(Priorities, EveryTensorIsNormalUnlessToldOtherwise) {
  for (const Priority priority : SetsParameters{}.priorities) EXPECT_EQ(priority, Priority::normal);
}

struct Case {
  const char* behaviour;
  SetPolicy policy;
  std::optional<int64_t> set_aside_lines;
  std::string_view trace, hits_and_misses;
};

constexpr Case cases[] = {
    // a A B C fill. a hits and is the most recent, yet D(a). A B C hit.
    {"evict_first leaves first however recent it is", lru, {}, "aABCaDABC", "MMMMHMHHH"},
    // A B C D, a(A), then b(a) and not B; B hits.
    {"evict_first takes a normal line where its kind is absent", lru, {}, "ABCDabB", "MMMMMMH"},
    // 1 A B C, D(A) though 1 is older, A(B) B(C); 1 hits.
    {"evict_last stays while others are there", lru, {}, "1ABCDAB1", "MMMMMMMH"},
    // 1 2 3 hold the set-aside, so 4(1) although a way is empty. A takes that way, B(A), A(B): one
    // way is all that the others have. 4 3 2 hit.
    {"evict_last thrashes in its set-aside alone", lru, {}, "1234ABA432", "MMMMMMMHHH"},
    // Nothing is evict_last: A B C D use all four ways and hit.
    {"others use what evict_last leaves free", lru, {}, "ABCDABCD", "MMMMHHHH"},
    // One line of set-aside is one way of the set: 1, 2(1), 1(2). A B C use the other three and
    // hit.
    {"a smaller set-aside holds fewer lines", lru, 1, "121ABCABC", "MMMMMMHHH"},
    // 1 A B C, D(1) as in any LRU, 1(A).
    {"evict_last is normal without a set-aside", lru, 0, "1ABCD1A", "MMMMMMM"},
    // A a B b fill; A and a hit, which FIFO ignores. C(a), the older of the two evict_first; D(b);
    // then normal ones are left: E(A). B hits.
    {"FIFO chooses inside a priority", fifo, {}, "AaBbAaCDEB", "MMMMHHMMMH"},
    // A B fill ways 0, 1 and a b ways 2, 3. The bits now point at way 0, the oldest, but its half
    // has no evict_first: C takes way 2 or 3, and of these the one its bit points at: b was last,
    // so a in way 2 leaves. b hits, A B hit.
    {"a tree turns aside from a higher priority", plru, {}, "ABabCbABa", "MMMMMHHHM"}};

TEST(Priorities, DecideWhichLineLeaves) {
  for (const Case& one : cases) {
    SetsParameters parameters;
    parameters.ways = 4;
    parameters.policy = one.policy;
    if (one.set_aside_lines)
      parameters.set_aside_bytes = *one.set_aside_lines * parameters.line_bytes;
    EXPECT_EQ(tests::hits_and_misses(one.trace, 1, parameters, true), one.hits_and_misses)
        << one.behaviour;
  }
}

}  // namespace
}  // namespace sawtooth::sim
