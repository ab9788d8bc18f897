// A key of the files in experiments/profiles, declared beside the member that it fills: its name,
// what kind of value it takes, between which limits, and which mechanism uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/gpu.hpp"
#include "sim/timed/mechanisms.hpp"

namespace sawtooth::sim {

enum class ProfileUnit : uint8_t { count, bytes, real, flag, line, runs, turns, rates };

/// The member that a value goes to.
using ProfilePlace = std::variant<int64_t*, double*, bool*, std::optional<int64_t>*,
                                  std::optional<double>*, std::vector<int64_t>*,
                                  std::vector<TpcRun>*, std::vector<std::vector<int>>*, LinkRates*>;

template <class Profile>
struct ProfileKey {
  std::string_view name;
  ProfileUnit unit;
  // The least and the most of a number: a factor of some ten beyond what GPUs have had, or what
  // the models can take.
  double low;
  double high;
  ProfilePlace (*place)(Profile& profile);
  std::optional<Mechanism> mechanism{};  // switched off, the value is as where no file says it
};

/// The place of a member of `Profile`, or of a member of its member.
template <class Profile, auto... path>
ProfilePlace place_at(Profile& profile) {
  return &(profile.*....*path);
}

}  // namespace sawtooth::sim
