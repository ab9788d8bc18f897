// What equal shares, shared prefixes, cascades and pages are not defined for, or not modelled in.
#pragma once

#include <optional>

#include "sim/schedule/limits.hpp"

namespace sawtooth::sim {

/// Empty where the request has none of them, or has them in a way that all wavefronts know.
std::optional<Fault> serving_fault(const Request& request);

}  // namespace sawtooth::sim
