// Names of how the backward pass adds up dQ, as the command line and the C API have them.
#pragma once

#include <array>
#include <string_view>

#include "scheduler/schedule.hpp"

namespace sawtooth {

struct DqName {
  std::string_view name;
  Dq dq;
};

inline constexpr std::array<DqName, 3> dq_names{
    {{"atomic", Dq::atomic}, {"ordered", Dq::ordered}, {"separate", Dq::separate}}};

}  // namespace sawtooth
