// The resolved configuration as text that is itself a valid configuration.
#pragma once

#include <string>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"

namespace sawtooth::experiments {

/// Every key with its values: axes as lists, and what the system, the gpu and the defaults give
/// wherever that is the same for all points; a comment where it is not.
std::string resolved_configuration(const Configuration& configuration, const Settings& command_line,
                                   const std::string& experiment, Catalog& catalog);

}  // namespace sawtooth::experiments
