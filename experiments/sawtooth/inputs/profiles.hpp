// What is known of GPUs and kernels, from experiments/profiles: which key of a file is which
// member of sim::Gpu and sim::KernelCost stands in one table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/interval_width.hpp"
#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "sim/gpu.hpp"
#include "sim/kernel_cost.hpp"

namespace sawtooth::experiments {

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
