// Which heads have items left: what is kept of a head is kept from its first item to the end of its
// last one, so that memory grows with the heads in flight, not with all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>

#include "sim/request.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

class LiveHeads {
 public:
  explicit LiveHeads(const Request& request)
      : batch_(request.problem.batch),
        kv_heads_(request.problem.kv_heads),
        prefix_(request.sequences.prefix),
        of_q_head_{.all = whole_item_count(request.problem, request.tiling, request.schedule) /
                          (request.problem.batch * request.problem.heads)},
        of_kv_head_{.all = of_q_head_.all * request.problem.heads_per_kv_head()} {}

  /// An item of these heads has ended, its last piece if it is cut. Calls ended(Tensor::q, q_head)
  /// after a query head's last item, and ended(Tensor::k, kv_head) after a K/V head's last one. The
  /// K/V heads of sequences that share a prefix end together, for one has it for all.
  template <class Ended>
  void item_ended(int64_t q_head, int64_t kv_head, Ended ended) {
    if (of_q_head_.count_down(q_head, 1)) ended(Tensor::q, q_head);
    if (!prefix_.shared()) {
      if (of_kv_head_.count_down(kv_head, 1)) ended(Tensor::k, kv_head);
      return;
    }
    const int64_t first = prefix_.first_of_group(kv_head / kv_heads_);
    const int64_t end = min_of(batch_, first + prefix_.group);
    const int64_t head = kv_head % kv_heads_;
    if (!of_kv_head_.count_down(first * kv_heads_ + head, end - first)) return;
    for (int64_t sequence = first; sequence < end; ++sequence)
      ended(Tensor::k, sequence * kv_heads_ + head);
  }

  /// K/V heads of which some items have ended and others not.
  int64_t begun_kv_heads() const { return std::ssize(of_kv_head_.left); }
  bool has_begun_kv_head(int64_t kv_head) const { return of_kv_head_.left.contains(kv_head); }

 private:
  struct Items {
    /// Whether that was the last item of `head`, which stands for `heads` of them.
    bool count_down(int64_t head, int64_t heads) {
      if (all * heads == 1) return true;
      const auto at = left.try_emplace(head, all * heads).first;
      if (--at->second > 0) return false;
      left.erase(at);
      return true;
    }
    int64_t all = 1;  // of a head
    std::unordered_map<int64_t, int64_t> left = {};
  };

  int64_t batch_;
  int64_t kv_heads_;
  Prefix prefix_;
  Items of_q_head_, of_kv_head_;
};

// Numbers for the atoms of heads in flight, and of ended ones of which L2 still holds lines: what
// is kept is bounded by the cache, however many heads there are.

/// `L2` has begin(HeadRun) and holds(AtomRange), as TwoHalves and PlacedSets; look_for_held() comes
/// before where it has one.
template <class L2>
class HeldHeads {
 public:
  HeldHeads(LiveAtoms& atoms, L2& l2) : atoms_(atoms), l2_(l2) { atoms_.record_begun(); }

  /// Before visits: heads that got numbers get their place in memory.
  void begin() {
    atoms_.take_begun([this](const HeadRun& run) { l2_.begin(run); });
  }
  /// When all touches so far have been visited. A look costs about the ways of L2, so it comes
  /// after as many ended atoms.
  void settle() {
    if (atoms_.ended_atoms() < limit_) return;
    if constexpr (requires { l2_.look_for_held(); }) l2_.look_for_held();
    atoms_.recycle_where([this](AtomRange atoms) { return !l2_.holds(atoms); });
    limit_ = least_ended + 2 * atoms_.ended_atoms();
  }

 private:
  static constexpr size_t least_ended = 16384;

  LiveAtoms& atoms_;
  L2& l2_;
  size_t limit_ = least_ended;
};

}  // namespace sawtooth::sim
