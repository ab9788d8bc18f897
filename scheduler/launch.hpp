// How items reach workers. A worker is a persistent CTA, or under `grid` a slot (SM x CTAs an SM)
// that the hardware refills with the next CTA.
#pragma once

#include <cstdint>
#include <string_view>

#include "scheduler/host_device.hpp"
#include "scheduler/policy_list.hpp"

namespace sawtooth {

struct GridLaunch {
  static constexpr std::string_view name = "grid";
  static constexpr std::string_view description =
      "a CTA an item, dispatched by the hardware in index order";
};

struct StaticLaunch {
  static constexpr std::string_view name = "static";
  static constexpr std::string_view description =
      "persistent CTAs, worker w takes items w, w + W, w + 2W ...";
};

struct DynamicLaunch {
  static constexpr std::string_view name = "dynamic";
  static constexpr std::string_view description =
      "persistent CTAs, each takes the next ticket when it is free";
};

struct BalancedLaunch {
  static constexpr std::string_view name = "balanced";
  static constexpr std::string_view description =
      "as static, but the last, incomplete wave is cut along K/V into equal shares (Stream-K)";
};

using Launches = PolicyList<GridLaunch, StaticLaunch, DynamicLaunch, BalancedLaunch>;

struct LaunchId {
  int32_t index = Launches::index_of<StaticLaunch>();
  friend constexpr bool operator==(LaunchId, LaunchId) = default;
};
template <class Policy>
inline constexpr LaunchId launch_id{Launches::index_of<Policy>()};

/// Whether worker w has the places w, w + W, w + 2W ... of the order.
SAWTOOTH_HD constexpr bool strides(LaunchId launch) {
  return launch == launch_id<StaticLaunch> || launch == launch_id<BalancedLaunch>;
}

}  // namespace sawtooth
