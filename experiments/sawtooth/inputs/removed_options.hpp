// Options, their values and keys of profiles that earlier versions had: each is refused by its
// name, with what to use instead.
#pragma once

#include <string>
#include <string_view>

namespace sawtooth::experiments {

struct RemovedOption {
  std::string_view name;
  std::string_view instead;
};

inline constexpr RemovedOption removed_options[] = {
    {"audit", "give a larger --budget, which decides more of what was pruned"},
    {"baselines",
     "give compare the predictions of simple rules, such as those of simulate --timing lockstep "
     "--l2 lru"},
    {"die", "speeds of SMs are drawn by seed; leave it out"},
    {"fabric-gb-per-s", "crossings take latency-far-ns; leave it out"},
    {"measure", "run bench and measure on the file of --best"},
    {"orders", "explicit orders were not better; leave it out"},
    {"port-gb-per-s", "an SM's port has its share of l2-gb-per-s; leave it out"},
    {"sample", "every tile is followed; leave it out"},
    {"scalar-fp32", "use mma-fp32"},
};

/// The end of the message about an unknown option: ": was removed; ...", or empty.
inline std::string removal_of(std::string_view name) {
  for (const RemovedOption& option : removed_options)
    if (option.name == name) return "was removed; " + std::string(option.instead);
  return {};
}

}  // namespace sawtooth::experiments
