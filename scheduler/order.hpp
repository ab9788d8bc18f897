// The work order: which tile of which head is item i: a Q tile of a query head, of the backward
// pass a K/V tile of a K/V head.
//
// Heads are laid out in sections of g consecutive heads. Inside a section the head runs fastest:
// item i of a section is head i mod g at rank i div g, so g = 1 walks one head's tiles after
// another and g = all heads walks every head at one rank. FlashAttention-3's
// hopper/tile_scheduler.hpp calls such a section an L2 swizzle.
// With kv-split the parts of a head are heads of their own, part p of head h at h * kv_split + p.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/policy_list.hpp"
#include "scheduler/problem.hpp"

namespace sawtooth {

// Which tile stands at a rank, at which rank a tile stands, and how many of the first ranks have
// their tiles from the front, the others from the back.
struct AscendingQ {
  static constexpr std::string_view name = "ascending";
  static constexpr std::string_view description = "first tile first";
  SAWTOOTH_HD static constexpr int64_t tile(int64_t rank, int64_t) { return rank; }
  SAWTOOTH_HD static constexpr int64_t rank(int64_t tile, int64_t) { return tile; }
  SAWTOOTH_HD static constexpr int64_t from_front(int64_t ranks) { return ranks; }
};

struct DescendingQ {
  static constexpr std::string_view name = "descending";
  static constexpr std::string_view description =
      "last tile first: with a causal mask the longest items first (LPT), backward the shortest";
  SAWTOOTH_HD static constexpr int64_t tile(int64_t rank, int64_t tiles) {
    return tiles - 1 - rank;
  }
  SAWTOOTH_HD static constexpr int64_t rank(int64_t tile, int64_t tiles) {
    return tiles - 1 - tile;
  }
  SAWTOOTH_HD static constexpr int64_t from_front(int64_t) { return 0; }
};

struct FoldQ {
  static constexpr std::string_view name = "fold";
  static constexpr std::string_view description =
      "first, last, second, last but one ...: a long and a short causal item in turn";
  SAWTOOTH_HD static constexpr int64_t tile(int64_t rank, int64_t tiles) {
    return rank % 2 == 0 ? rank / 2 : tiles - 1 - rank / 2;
  }
  SAWTOOTH_HD static constexpr int64_t rank(int64_t tile, int64_t tiles) {
    return 2 * tile < tiles ? 2 * tile : 2 * (tiles - 1 - tile) + 1;
  }
  SAWTOOTH_HD static constexpr int64_t from_front(int64_t ranks) { return (ranks + 1) / 2; }
};

using QOrders = PolicyList<AscendingQ, DescendingQ, FoldQ>;

struct QOrderId {
  int32_t index = 0;
  friend constexpr bool operator==(QOrderId, QOrderId) = default;
};
template <class Policy>
inline constexpr QOrderId q_order_id{QOrders::index_of<Policy>()};

/// How heads are numbered: batch_index * heads + head, or head * batch + batch_index
/// (FlashAttention-2's grid).
enum class HeadOrder : uint8_t { batch_major, head_major };

/// What one item works on, before the tiles that it scans are known. Of the backward pass `head` is
/// a K/V head.
struct WorkCoordinates {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t own_tile = 0;
  int64_t part = 0;
  friend constexpr bool operator==(const WorkCoordinates&, const WorkCoordinates&) = default;
};

struct Order {
  int64_t section = 1;  // heads (times kv_split) a section; the last section has what is left
  QOrderId q_order{};
  HeadOrder head_order = HeadOrder::batch_major;
  // An explicit order: coordinates that replace all of the above. Not owned;
  // memory of the side that reads it (host for the simulator, device for a kernel).
  const WorkCoordinates* list = nullptr;
};

/// The section that `auto:BYTES` stands for: the largest power of two P >= 1 with P K/V heads
/// (K and V, of the backward pass Q, dO and dQ) in `bytes`, times the heads of a K/V head that have
/// items.
SAWTOOTH_HD constexpr int64_t auto_section(const Problem& problem, int64_t bytes) {
  const bool forward = problem.pass == Pass::forward;
  const int64_t head_bytes = forward ? problem.kv_head_bytes() : problem.gradient_head_bytes();
  int64_t kv_heads = 1;
  while (2 * kv_heads <= bytes / head_bytes) kv_heads *= 2;
  return forward ? kv_heads * problem.heads_per_kv_head() : kv_heads;
}

/// A section, and where an item stands in it.
struct SectionPlace {
  int64_t first_item = 0;  // index of the section's first item
  int64_t heads = 0;       // heads of this section
  int64_t first_head = 0;
  int64_t head_in_section = 0;
  int64_t rank = 0;

  SAWTOOTH_HD constexpr int64_t head() const { return first_head + head_in_section; }
  /// To item `index` of this section.
  SAWTOOTH_HD constexpr void move_to(int64_t index) {
    head_in_section = (index - first_item) % heads;
    rank = (index - first_item) / heads;
  }
};

/// The section of item `index`, of sections of `section` heads with `ranks` ranks each.
SAWTOOTH_HD constexpr SectionPlace section_of(int64_t index, int64_t section, int64_t all_heads,
                                              int64_t ranks) {
  const int64_t first_head = index / (section * ranks) * section;
  return {.first_item = first_head * ranks,
          .heads = min_of(section, all_heads - first_head),
          .first_head = first_head};
}

SAWTOOTH_HD constexpr SectionPlace section_place(int64_t index, int64_t section, int64_t all_heads,
                                                 int64_t ranks) {
  SectionPlace place = section_of(index, section, all_heads, ranks);
  place.move_to(index);
  return place;
}

/// What stands at `place` of an order without a list.
SAWTOOTH_HD constexpr WorkCoordinates work_at_place(const Problem& problem, const Order& order,
                                                    int64_t ranks, int64_t kv_split,
                                                    const SectionPlace& place, Pass pass) {
  const int64_t heads = problem.item_heads(pass);
  const int64_t h = place.head() / kv_split;
  const bool batch_major = order.head_order == HeadOrder::batch_major;
  return {.batch = batch_major ? h / heads : h % problem.batch,
          .head = batch_major ? h % heads : h / problem.batch,
          .own_tile = QOrders::dispatch(
              order.q_order.index,
              [&](auto policy) { return decltype(policy)::tile(place.rank, ranks); }),
          .part = place.head() % kv_split};
}

/// Item `index` of the order, of heads with `ranks` tiles; 0 <= index < batch * heads * kv_split *
/// ranks.
SAWTOOTH_HD constexpr WorkCoordinates work_at(const Problem& problem, const Order& order,
                                              int64_t ranks, int64_t kv_split, int64_t index,
                                              Pass pass) {
  if (order.list != nullptr) return order.list[index];
  const int64_t all_heads = problem.batch * problem.item_heads(pass) * kv_split;
  return work_at_place(problem, order, ranks, kv_split,
                       section_place(index, order.section, all_heads, ranks), pass);
}

}  // namespace sawtooth
