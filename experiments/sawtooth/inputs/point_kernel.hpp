// What a point's kernel is and costs.
#pragma once

#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"

namespace sawtooth::experiments {

/// The keys of a preset say what its kernel is; other points are of kernels/mma, unless they name
/// another family. The backward pass of a family has costs of its own, as FAMILY-backward.
KernelShape kernel_of(const Layers& layers, const Point& point);

/// Facts of one GPU. Throws a Refusal, or UsageError for the file.

/// What steps cost, from the files of all GPUs and of this one, and then what the point says. The
/// row's costs are those that are not the preset's own: its column `system` names the preset.
void resolve_kernel(const Layers& layers, const KernelShape& kernel, const GpuFile* gpu,
                    Catalog& catalog, Point& point);

}  // namespace sawtooth::experiments
