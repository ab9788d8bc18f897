// Which heads have items left: what is kept of a head is kept from its first item to the end of its
// last one, so that memory grows with the heads in flight, not with all of them.
#pragma once

#include <cstdint>
#include <iterator>
#include <unordered_map>

#include "scheduler/schedule.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

class LiveHeads {
 public:
  LiveHeads(const Problem& problem, const Tiling& tiling, const Schedule& schedule)
      : of_q_head_{.all = whole_item_count(problem, tiling, schedule) /
                          (problem.batch * problem.heads)},
        of_kv_head_{.all = of_q_head_.all * problem.heads_per_kv_head()} {}

  /// An item of these heads has ended, its last piece if it is cut. Calls ended(Tensor::q, q_head)
  /// after a query head's last item, and ended(Tensor::k, kv_head) after a K/V head's last one.
  template <class Ended>
  void item_ended(int64_t q_head, int64_t kv_head, Ended ended) {
    if (of_q_head_.count_down(q_head)) ended(Tensor::q, q_head);
    if (of_kv_head_.count_down(kv_head)) ended(Tensor::k, kv_head);
  }

  /// K/V heads of which some items have ended and others not.
  int64_t begun_kv_heads() const { return std::ssize(of_kv_head_.left); }
  bool has_begun_kv_head(int64_t kv_head) const { return of_kv_head_.left.contains(kv_head); }

 private:
  struct Items {
    /// Whether that was the last item of `head`.
    bool count_down(int64_t head) {
      if (all == 1) return true;
      const auto at = left.try_emplace(head, all).first;
      if (--at->second > 0) return false;
      left.erase(at);
      return true;
    }
    int64_t all = 1;  // of a head
    std::unordered_map<int64_t, int64_t> left = {};
  };

  Items of_q_head_, of_kv_head_;
};

}  // namespace sawtooth::sim
