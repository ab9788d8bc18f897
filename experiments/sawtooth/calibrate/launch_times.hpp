// What the items of a launch took, as one row: what costs of kernels are learnt from.
//
// Times are as recorded, with what passes between two items in them. The end of a CTA's last item
// is not recorded, and that item is not used.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

inline constexpr double not_told = std::numeric_limits<double>::quiet_NaN();

struct LaunchTimes {
  KernelShape kernel;
  std::string dtype = "bf16", mask = "none", launch = "static", scan = "linear";
  int64_t workers = 0;
  int64_t prefetch = 0;
  double dram_tb_per_s = not_told;  // what the launch read from DRAM

  int64_t least_steps = 0, most_steps = 0;  // of an item
  double items_a_step = 0;                  // of a CTA, in the median
  // A step's times, by SM, are median and mean over the older CTAs of SMs and over the younger
  // ones; the mean over all items; and medians over CTAs with lines to prefetch and without.
  double older_ns = not_told, younger_ns = not_told;
  double older_mean_ns = not_told, younger_mean_ns = not_told, mean_ns = not_told;
  double lines_ns = not_told, no_lines_ns = not_told;
  // Both CTAs of an SM have lines, or neither has. The bias is the share by which a CTA with lines
  // beside one without takes longer.
  double both_lines_ns = not_told, neither_lines_ns = not_told, lines_bias = not_told;

  double sorted_ahead = not_told;     // by which the faster half of CTAs is faster than the mean
  double jitter = not_told;           // of a step: from items of SMs of one GPC, robust
  double jitter_of_all = not_told;    // from the variance of a CTA's items
  double gpc_spread = not_told;       // standard deviation of GPCs' slowness
  double tpc_spread = not_told;       // by which the first SM of a TPC is slower than its mean
  double start_spread_ns = not_told;  // from the first TPC of a GPC to its last

  // The line through (steps, ns) of items: their number, means and sums of squares and products.
  double line_items = 0, line_steps = 0, line_ns = 0, line_square = 0, line_product = 0;

  // Two CTAs of an SM in the wrong phase of each other (docs/models/backward.md): a step in the
  // right phase, what the others take longer, and the share of time in the wrong phase.
  double phase_ns = not_told, phase_slowness = not_told, phase_share = not_told;
  // Items that end while every SM still has two CTAs.
  double early_items = 0, early_steps = 0, early_ns = 0;

  int64_t element_bytes() const { return dtype == "fp32" ? 4 : 2; }
  /// Persistent CTAs, so many on each of `sms`.
  bool has_ctas(int64_t an_sm, int64_t sms) const {
    return launch != "grid" && workers == an_sm * sms;
  }
  /// Items alike, and so long that what is between them does not count.
  bool is_steady() const { return launch != "grid" && mask == "none" && least_steps >= 500; }
  /// A time a step without the `item_ns` that pass between two items.
  double without_items(double step_ns, double item_ns) const {
    return step_ns - item_ns * items_a_step;
  }
  /// A share of a recorded step as a share of the step alone.
  double of_step(double share, double item_ns) const {
    return share * mean_ns / without_items(mean_ns, item_ns);
  }
};

struct RecordedItem {
  int64_t start_ns = 0, item = 0, steps = 0;
};

struct RecordedLaunch {
  LaunchTimes point;                            // its times are not set
  std::vector<std::vector<RecordedItem>> ctas;  // items of each CTA in the order of time
};

/// One a repetition of a point. Throws UsageError for what is no such table, and for items of a
/// point that `points_path` has not.
std::vector<RecordedLaunch> read_item_records(const std::string& points_path,
                                              const std::string& items_path);

/// What was launched, in columns of results.csv.
TypedColumns<LaunchTimes> point_columns();

/// SMs are those of `gpu`, in the order of its layout.
LaunchTimes launch_times(const RecordedLaunch& launch, const sim::Gpu& gpu);

/// A table of launches, one a row; and back. Throws UsageError for what is no such table.
std::string launch_times_csv(const std::vector<LaunchTimes>& launches);
std::vector<LaunchTimes> read_launch_times(const std::string& path);

/// Sections of a kernel's file: what a step takes, alone and where two CTAs share an SM, how it
/// varies from step to step and from SM to SM, what prefetch adds, and what an item takes beyond
/// its steps. Of kernels/mma forward also the rates of products and exponentials and what is left
/// beside them, which its other tiles are predicted from. What the launches do not show is not
/// there.
///
/// `launches` are of one family on `gpu`; `known` are costs of every kernel on it, of which the
/// rates, fixed-ns and item-begin-ns are used. Throws std::invalid_argument where no launch without
/// a mask and prefetch has one CTA an SM and long items.
std::vector<ProfileSection> item_costs(const std::vector<LaunchTimes>& launches,
                                       const sim::Gpu& gpu, const sim::KernelCost& known);

}  // namespace sawtooth::experiments
