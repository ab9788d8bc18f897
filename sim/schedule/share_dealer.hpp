// Which piece a worker takes next under kv-split = auto: those of its share one after the other,
// and then those of shares that it draws. The number of the next share is drawn when one begins, as
// kernels do, which hide the draw's latency so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/item_shares.hpp"

namespace sawtooth::sim {

/// Item `item` as far as share `share` has it.
struct SharedItem {
  int64_t item = 0;
  int64_t share = 0;
};

class ShareDealer {
 public:
  /// Nothing for shares that do not cut.
  ShareDealer(const ItemShares& shares, int64_t workers)
      : shares_(shares),
        workers_(static_cast<size_t>(!shares.cuts()             ? 0
                                     : shares.row().drawn() > 0 ? workers
                                                                : shares.row().dealt())) {}

  int64_t workers() const { return std::ssize(workers_); }

  std::optional<SharedItem> next(int64_t w) {
    Worker& worker = workers_[static_cast<size_t>(w)];
    if (!worker.begun) {
      worker.begun = true;
      if (w < shares_.row().dealt()) enter(worker, w);
      worker.ahead = draw();
    }
    while (worker.items.empty()) {
      if (worker.ahead >= shares_.row().count()) return std::nullopt;
      enter(worker, worker.ahead);
      worker.ahead = draw();
    }
    return SharedItem{worker.items.begin++, worker.share};
  }

 private:
  struct Worker {
    bool begun = false;
    int64_t share = 0;
    int64_t ahead = 0;  // the share that it draws next
    Range items{};      // of its share, that are left
  };

  void enter(Worker& worker, int64_t share) const {
    worker.share = share;
    worker.items = shares_.items_of(share);
  }
  int64_t draw() { return min_of(shares_.row().count(), shares_.row().dealt() + ticket_++); }

  const ItemShares& shares_;
  std::vector<Worker> workers_;
  int64_t ticket_ = 0;
};

}  // namespace sawtooth::sim
