// The next thing that happens, by time and then by worker: every worker has at most one event.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sawtooth::sim {

struct Event {
  double ns = 0;  // at least 0
  int32_t worker = 0;
};

/// A tournament of all workers: a new time plays its way up against winners that are known.
class EventQueue {
 public:
  /// Without events.
  explicit EventQueue(size_t workers)
      : workers_(std::bit_ceil(workers)), winners_(2 * workers_, Node{never, 0}) {}

  bool empty() const { return winners_[1].time == never; }
  Event first() const { return {std::bit_cast<double>(winners_[1].time), winners_[1].worker}; }

  /// The one event of its worker.
  void set(Event event) { play({std::bit_cast<uint64_t>(event.ns), event.worker}); }
  void remove(int32_t worker) { play({never, worker}); }

 private:
  // Times from 0 on are in the order of their bits, which are compared without a branch.
  struct Node {
    uint64_t time;
    int32_t worker;
  };
  static constexpr uint64_t never = UINT64_MAX;  // no time has these bits

  void play(Node node) {
    size_t at = workers_ + static_cast<size_t>(node.worker);
    winners_[at] = node;
    for (; at > 1; at /= 2) {
      const Node other = winners_[at ^ 1];
      const bool loses =
          (other.time < node.time) | ((other.time == node.time) & (other.worker < node.worker));
      node.time = loses ? other.time : node.time;
      node.worker = loses ? other.worker : node.worker;
      winners_[at / 2] = node;
    }
  }

  size_t workers_;
  std::vector<Node> winners_;  // of nodes 2 i and 2 i + 1 in i; the last ones are the workers' own
};

}  // namespace sawtooth::sim
