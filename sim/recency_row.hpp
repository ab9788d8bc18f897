// A set of up to 16 ways: the tags of its lines, the last one of which leaves first. An access
// looks for its tag, puts it first, and moves the tags before the place where it was (LRU) or all
// of them (a miss) one place on: a few instructions on vectors of 32-bit tags, without a branch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sawtooth::sim {

struct alignas(64) RecencyRow {
  static constexpr uint32_t ways = 16;
  uint32_t tags[ways];
};

/// Each way has the number of ways of the row that follow, itself among them; ways behind those of
/// the set have less than none.
struct alignas(64) RowYouths {
  int32_t of[RecencyRow::ways];
};
/// By the ways of a set.
inline constexpr std::array<RowYouths, RecencyRow::ways + 1> row_youths = [] {
  std::array<RowYouths, RecencyRow::ways + 1> youths{};
  for (uint32_t ways = 0; ways <= RecencyRow::ways; ++ways)
    for (uint32_t way = 0; way < RecencyRow::ways; ++way)
      youths[ways].of[way] = way < ways ? static_cast<int32_t>(RecencyRow::ways - way) : -1;
  return youths;
}();

using RowVector16 [[gnu::vector_size(16), gnu::may_alias]] = int32_t;  // SSE2, NEON
using RowVector32 [[gnu::vector_size(32), gnu::may_alias]] = int32_t;  // AVX2

/// Makes `tag` the first one under LRU. Returns whether it was there.
template <class Vector>
[[gnu::always_inline]] inline bool make_first(RecencyRow& row, uint32_t tag,
                                              const RowYouths& youths) {
  constexpr size_t lanes = sizeof(Vector) / sizeof(uint32_t), count = RecencyRow::ways / lanes;
  auto* const vectors = reinterpret_cast<Vector*>(row.tags);
  const auto* const youth = reinterpret_cast<const Vector*>(youths.of);
  const Vector own = static_cast<int32_t>(tag) - Vector{};
  Vector held[count];
  Vector found{};  // the tag's youth, in one lane and then in all
  for (size_t i = 0; i < count; ++i) {
    held[i] = vectors[i];
    found |= (held[i] == own) & youth[i];
  }
  if constexpr (lanes == 4) {
    found |= __builtin_shufflevector(found, found, 2, 3, 0, 1);
    found |= __builtin_shufflevector(found, found, 1, 0, 3, 2);
  } else {
    found |= __builtin_shufflevector(found, found, 4, 5, 6, 7, 0, 1, 2, 3);
    found |= __builtin_shufflevector(found, found, 2, 3, 0, 1, 6, 7, 4, 5);
    found |= __builtin_shufflevector(found, found, 1, 0, 3, 2, 5, 4, 7, 6);
  }
  Vector before = own;
  for (size_t i = 0; i < count; ++i) {
    Vector moved;
    if constexpr (lanes == 4)
      moved = __builtin_shufflevector(before, held[i], 3, 4, 5, 6);
    else
      moved = __builtin_shufflevector(before, held[i], 7, 8, 9, 10, 11, 12, 13, 14);
    before = held[i];
    vectors[i] = youth[i] >= found ? moved : held[i];
  }
  return found[0] != 0;
}

}  // namespace sawtooth::sim
