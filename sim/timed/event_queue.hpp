// The next thing that happens, by time and then by worker: every worker has at most one event.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace sawtooth::sim {

struct Event {
  double ns = 0;
  int32_t worker = 0;

  // Times from 0 on are in the order of their bits, which are compared without a branch.
  friend bool operator<(const Event& a, const Event& b) {
    const auto x = std::bit_cast<uint64_t>(a.ns), y = std::bit_cast<uint64_t>(b.ns);
    return (x < y) | ((x == y) & (a.worker < b.worker));
  }
};

/// A binary heap; replacing the first event is one walk downwards.
class EventQueue {
 public:
  bool empty() const { return events_.empty(); }
  const Event& first() const { return events_.front(); }

  void push(Event event) {
    size_t at = events_.size();
    events_.push_back(event);
    while (at > 0 && event < events_[(at - 1) / 2]) {
      events_[at] = events_[(at - 1) / 2];
      at = (at - 1) / 2;
    }
    events_[at] = event;
  }

  void pop() {
    const Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) replace_first(last);
  }

  void replace_first(Event event) {
    const size_t count = events_.size();
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count) child += events_[child + 1] < events_[child] ? 1 : 0;
      if (!(events_[child] < event)) break;
      events_[at] = events_[child];
      at = child;
    }
    events_[at] = event;
  }

 private:
  std::vector<Event> events_;
};

}  // namespace sawtooth::sim
