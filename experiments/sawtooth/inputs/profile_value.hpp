// Values of a profile's keys: what kinds there are, what they allow, and how they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/gpu.hpp"

namespace sawtooth::experiments {

enum class ProfileUnit { count, bytes, real, flag, line, runs, turns, rates };

/// The member that a value goes to.
using ProfilePlace =
    std::variant<int64_t*, double*, bool*, std::optional<int64_t>*, std::optional<double>*,
                 std::vector<int64_t>*, std::vector<double>*, std::vector<sim::TpcRun>*,
                 std::vector<std::vector<int>>*, sim::LinkRates*>;

/// What a key allows. The least and the most are of a number.
struct ProfileBounds {
  ProfileUnit unit;
  double low;
  double high;
};

/// Puts what `text` says in its place. Throws std::invalid_argument: which part of it is not
/// allowed, and what is.
void read_profile_value(std::string_view text, const ProfileBounds& bounds, ProfilePlace place);

}  // namespace sawtooth::experiments
