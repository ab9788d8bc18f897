// Records of when each item of a launch began (`sawtooth measure --item-trace`), with the points
// that were launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/profiles.hpp"

namespace sawtooth::experiments {

struct RecordedItem {
  int64_t start_ns = 0;
  int64_t item = 0;
  int64_t steps = 0;
};

struct RecordedLaunch {
  KernelShape kernel;
  std::string mask;
  std::string launch;
  std::string scan = "linear";
  int64_t workers = 0;
  int64_t prefetch = 0;
  int64_t element_bytes = 2;
  std::vector<std::vector<RecordedItem>> ctas;  // items of each CTA in the order of time

  /// Persistent CTAs, so many on each of `sms`.
  bool has_ctas(int64_t an_sm, int64_t sms) const {
    return launch != "grid" && workers == an_sm * sms;
  }
  /// Persistent CTAs, items alike and so long that what is between them does not count.
  bool is_steady() const;
  /// Whether lines of a tile fall to this CTA to prefetch (scheduler/prefetch.hpp, one head).
  bool has_lines(int64_t cta) const;
  /// Nanoseconds a step, from a CTA's first start to its last, where `item_ns` pass between items.
  /// The last item, whose end is not recorded, is not used.
  double pace(int64_t cta, double item_ns) const;
};

inline constexpr int64_t long_steps = 500;  // of an item of a steady launch, at least

/// One a repetition of a point. `items_path` may be compressed by xz, if that program is there.
/// Throws UsageError for what is no such table, and for items of a point that `points_path` has
/// not.
std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path);

}  // namespace sawtooth::experiments
