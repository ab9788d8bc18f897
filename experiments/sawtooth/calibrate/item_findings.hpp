// What records of items say of a GPU, of its die and of kernels: how fast SMs are, how CTAs share
// one, what steps and items cost, and which half draws the first tickets.
#pragma once

#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/item_records.hpp"

namespace sawtooth::experiments {

/// Values with their notes, for the files of experiments/profiles; what the records do not show is
/// not there.
struct ItemFindings {
  std::vector<Parameter> gpu;
  ProfileSection die;                   // [die]
  std::vector<ProfileSection> speeds;   // of a die's file
  std::vector<ProfileSection> kernels;  // of a kernel's file
};

/// SMs are those of `gpu`, in the order of its layout; `item_ns` pass between the steps of two
/// items. Throws std::invalid_argument for records without long items of one CTA an SM, and for
/// first tickets that do not tell the halves of L2 apart.
ItemFindings findings_of(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu,
                         double item_ns);

/// Sections of a kernel's file for another family than kernels/mma: what a step takes, with
/// prefetch too, its jitter, what an item takes beyond its steps, and how two CTAs share an SM
/// where launches have so many. `known`: costs of every kernel. Throws std::invalid_argument where
/// no launch without a mask and prefetch has one CTA an SM and long items.
std::vector<ProfileSection> family_findings(const std::vector<RecordedLaunch>& launches,
                                            const sim::Gpu& gpu, const sim::KernelCost& known);

}  // namespace sawtooth::experiments
