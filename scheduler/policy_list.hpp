// A closed list of policies, each a struct with a name, a description and static functions.
//
// Adding a policy means writing its struct and naming it in the list: the command line, the
// listing of `sawtooth schedules`, the simulator, the kernels and the tests all read the list.
// A policy is held at run time as its index, so that one kernel serves every policy.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "scheduler/host_device.hpp"

namespace sawtooth {

struct PolicyInfo {
  std::string_view name;
  std::string_view description;
};

template <class... Policies>
struct PolicyList {
  static constexpr int size = sizeof...(Policies);

  /// Names and descriptions in the order of the list.
  static constexpr std::array<PolicyInfo, sizeof...(Policies)> info() {
    return {PolicyInfo{Policies::name, Policies::description}...};
  }

  template <class Policy>
  static constexpr int index_of() {
    int index = 0;
    (void)((std::is_same_v<Policy, Policies> || (++index, false)) || ...);
    return index;
  }

  static constexpr std::optional<int> find(std::string_view name) {
    int index = 0;
    const bool found = ((Policies::name == name || (++index, false)) || ...);
    return found ? std::optional<int>(index) : std::nullopt;
  }

  /// The result of `function(Policy{})` for the policy at `index`, 0 for an index off the list.
  template <class Function>
  SAWTOOTH_HD static constexpr int64_t dispatch(int index, Function&& function) {
    int64_t result = 0;
    int at = 0;
    (void)((at++ == index && ((result = function(Policies{})), true)) || ...);
    return result;
  }
};

}  // namespace sawtooth
