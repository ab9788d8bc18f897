// What is known of GPUs and kernels, from experiments/profiles: which key of a file is which
// member of sim::Gpu and sim::KernelCost stands in one table.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "sim/gpu.hpp"
#include "sim/kernel_cost.hpp"

namespace sawtooth::experiments {

// How wide the interval of a predicted figure is, from what a model was wrong by on lists of
// points: [intervals] of a GPU's profile, a column a line.
//
//   dram_read_sectors = 0.05, 0.04, 0.1, 0.6, 0.005, 9.9; measured; ...
//
// The measured value lies in predicted x exp(-h) to predicted x exp(h) in 90 % of points. Where one
// launch was simulated h is one of the first four numbers, by the kind of the point, for durations
// by a kind of their own. Where several were, it is the sixth number times hypot(s, fifth number),
// with s the standard deviation of the logarithm over these launches: points at which dies and
// pages differ are those at which the model errs.

/// Columns of results.csv that no model of time knows exactly. Each, X, has X_low and X_high.
inline constexpr auto interval_columns = std::to_array<std::string_view>(
    {"l2_read_sectors", "l2_read_miss_sectors", "fabric_read_sectors", "fabric_read_miss_sectors",
     "dram_read_sectors", "dram_write_sectors", "time_us"});

/// By what decides how far CTAs drift apart, and what that costs.
enum class PointKind : uint8_t {
  within,    // predicted DRAM reads up to 1.5 x compulsory: L2 holds what is read again
  in_step,   // beyond; no mask, and a wave reads one head
  apart,     // beyond; a mask, or heads that share a wave
  drifting,  // beyond; a mask, and the shortest items first
};
inline constexpr auto point_kind_names =
    std::to_array<std::string_view>({"within", "in_step", "apart", "drifting"});
inline constexpr size_t point_kinds = point_kind_names.size();

/// Durations differ in kind by how long the predicted one is: brief (what a launch is beside its
/// items counts), usual, sustained (the clock may fall), limited (at the GPU's power limit it has
/// begun to).
/// Where usual, sustained and limited begin. A launch's 2 to 6 us are 1 to 3 % of the first; the
/// others are where durations of development lists begin to differ from launch to launch, and the
/// power-delay-ms of an H200.
inline constexpr std::array<double, 3> duration_kind_begins_us{200, 10'000, 30'000};

struct IntervalWidth {
  std::string column;                               // one of interval_columns
  std::array<double, point_kinds> of_one_launch{};  // by PointKind, of time_us by how long it is
  double floor = 0;                                 // of the spread over launches
  double factor = 0;

  /// h, of what the simulated launches say; at least one, each above 0. `kind` is that of a
  /// counter's point.
  double half_width(const std::vector<double>& launches, PointKind kind) const {
    return launches.size() < 2 ? of_one_launch[static_cast<size_t>(kind)] : of_several(launches);
  }
  /// h of a duration: several launches on one card know nothing of how cards differ.
  double half_width_of_time(const std::vector<double>& launches_us, double time_us) const;
  /// The half width follows from two or more launches.
  double of_several(const std::vector<double>& launches) const;
};

/// Throws UsageError with `path`, line and what is allowed.
IntervalWidth parse_interval_width(const std::string& path, const Parameter& parameter);

struct GpuFile {
  std::string description;
  std::vector<std::string> kernel_costs;  // files of profiles/kernels: what kernels cost on it
  /// [pace]: times of steps and items here over those of such a file; 1 where it has none.
  std::map<std::string, double, std::less<>> paces;
  sim::Gpu profile;
  std::vector<Parameter> parameters;
  /// Models that were judged on it, the default first: keys are TIMING-L2, values name lists.
  std::vector<Parameter> judged;
  /// Intervals of what the first judged model predicts are so wide: with kernels of the usual
  /// family, and with others by their names ([intervals-FAMILY]).
  std::vector<IntervalWidth> intervals;
  std::map<std::string, std::vector<IntervalWidth>, std::less<>> family_intervals;
  std::string content;  // ProfileFile's
};

/// What values of a profile ask of each other. Throws UsageError that begins with `path` and names
/// the key and what is allowed.
void check_gpu(const sim::Gpu& gpu, const std::string& path);

/// `sms` and `l2-bytes` are required. Throws UsageError with file, line and what is allowed.
GpuFile read_gpu_file(const std::string& path);

/// Files of kernels, every key and value of which has been tried. Throw UsageError with
/// file, line and what is allowed.
ProfileFile read_kernel_file(const std::string& path);

/// The family of this project's kernels that a file's sections of shapes are of where it names
/// none.
inline constexpr std::string_view usual_family = "mma";

/// The kernel that a point is of.
struct KernelShape {
  int64_t head_dim = 0;
  Tiling tiling;
  std::string family{usual_family};  // empty: none of this project's
};

/// Puts what `file` says of `kernel` in the place of what `cost` has: [every] first,
/// then the other sections that hold, in the order of the file. Sections of shapes hold for kernels
/// of the file's family (its word `family`).
void set_kernel_cost(const ProfileFile& file, const KernelShape& kernel, sim::KernelCost& cost);

/// As set_kernel_cost(), for a file that is asked for by name: its sections of shapes hold whatever
/// family the kernel is of. Throws UsageError where no section holds.
void set_named_kernel_cost(const ProfileFile& file, KernelShape kernel, sim::KernelCost& cost);

/// Throws UsageError for a key or a value of the section that files of kernels may not have.
void check_kernel_costs(const std::string& path, const ProfileSection& section);

/// Whether a section of `file` is of this very kernel.
bool has_costs_of(const ProfileFile& file, const KernelShape& kernel);

}  // namespace sawtooth::experiments
