// Values of a profile's keys: what kinds there are, what they allow, and how they are read.
#pragma once

#include <string_view>

#include "sim/profile_key.hpp"

namespace sawtooth::experiments {

using sim::ProfilePlace;
using sim::ProfileUnit;

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
