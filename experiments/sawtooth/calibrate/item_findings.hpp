// What records of items say of a GPU, of its die and of the kernels of kernels/mma: how fast SMs
// are, how CTAs share one, what steps and items cost, and which half draws the first tickets.
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

}  // namespace sawtooth::experiments
