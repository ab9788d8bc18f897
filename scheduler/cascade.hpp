// Cascade: the part of K and V that a group of sequences shares is scanned once for the queries of
// all of them, and what each sequence has for itself by an item of its own (Ye et al.,
// "FlashInfer", arXiv 2501.01005, section 3.1). The results of both are merged by log-sum-exp.
//
// A sequence's rows of a head fit into one Q tile. A prefix item has the rows of a stack: of as
// many neighbouring sequences of a group as fit into a tile. Prefix items come first, group after
// group, head after head, then those of the sequences in the schedule's order. Every item leaves a
// partial result; the one that comes last of those that a sequence's head needs merges them.
#pragma once

#include <cstdint>

#include "scheduler/host_device.hpp"
#include "scheduler/integer_math.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"

namespace sawtooth {

class Cascade {
 public:
  /// The longest queries of a head of a forward problem fit into a tile; `prefix` is shared.
  SAWTOOTH_HD constexpr Cascade(const Problem& problem, const Tiling& tiling, const Prefix& prefix)
      : batch_(problem.batch),
        heads_(problem.heads),
        group_(prefix.group),
        stack_(min_of(prefix.group, max_of(1, tiling.q_rows / max_of(1, problem.seq_q)))),
        stacks_a_group_(ceil_div(group_, stack_)) {}

  /// Sequences whose rows one prefix item has, at most.
  SAWTOOTH_HD constexpr int64_t stack() const { return stack_; }
  /// They are the first ones.
  SAWTOOTH_HD constexpr int64_t prefix_items() const {
    const int64_t rest = batch_ % group_;
    return heads_ * (batch_ / group_ * stacks_a_group_ + ceil_div(rest, stack_));
  }
  /// The prefix item that has the rows of head `head` of sequence `sequence`.
  SAWTOOTH_HD constexpr int64_t prefix_item(int64_t sequence, int64_t head) const {
    const int64_t group = sequence / group_;
    return group * stacks_a_group_ * heads_ + head * stacks_of(group) + sequence % group_ / stack_;
  }
  /// Its sequences; 0 <= item < prefix_items().
  SAWTOOTH_HD constexpr Range sequences_of(int64_t item) const {
    const int64_t group = group_of(item);
    const int64_t begin = group * group_ + in_group(item, group) % stacks_of(group) * stack_;
    return {begin, min_of(begin + stack_, min_of(batch_, (group + 1) * group_))};
  }
  SAWTOOTH_HD constexpr int64_t head_of(int64_t item) const {
    const int64_t group = group_of(item);
    return in_group(item, group) / stacks_of(group);
  }

 private:
  SAWTOOTH_HD constexpr int64_t group_of(int64_t item) const {
    return item / (stacks_a_group_ * heads_);
  }
  SAWTOOTH_HD constexpr int64_t in_group(int64_t item, int64_t group) const {
    return item - group * stacks_a_group_ * heads_;
  }
  SAWTOOTH_HD constexpr int64_t stacks_of(int64_t group) const {
    return ceil_div(min_of(group_, batch_ - group * group_), stack_);
  }

  int64_t batch_;
  int64_t heads_;
  int64_t group_;
  int64_t stack_;
  int64_t stacks_a_group_;
};

SAWTOOTH_HD constexpr int64_t cascade_item_count(const Problem& problem, const Tiling& tiling,
                                                 const Schedule& schedule, const Cascade& cascade) {
  return cascade.prefix_items() + item_count(problem, tiling, schedule);
}

/// Item `index` of the cascade. Of a prefix item `batch` is the first sequence of its stack, and
/// `part` is 0; of a sequence's own item `part` is 1.
SAWTOOTH_HD constexpr Item cascade_item_at(const Problem& problem, const Tiling& tiling,
                                           const Schedule& schedule, const Sequences& sequences,
                                           const Cascade& cascade, int64_t index) {
  const int64_t prefix_tiles = sequences.prefix.tiles(tiling.kv_rows);
  if (index < cascade.prefix_items()) {
    const int64_t head = cascade.head_of(index);
    return {.index = index,
            .batch = cascade.sequences_of(index).begin,
            .head = head,
            .kv_head = problem.kv_head_of(head),
            .own_tile = 0,
            .part = 0,
            .scanned = {0, prefix_tiles}};
  }
  Item item = item_at(problem, tiling, schedule, sequences, index - cascade.prefix_items());
  item.index = index;
  item.part = 1;
  item.scanned = intersection(item.scanned, {prefix_tiles, item.scanned.end});
  return item;
}

}  // namespace sawtooth
