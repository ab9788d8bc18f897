// The backward pass: an item is a K/V tile and scans the Q tiles that see it.
#pragma once

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::experiments {

template <>
inline const ValueNames<Pass> names_of<Pass>{{"forward", Pass::forward},
                                             {"backward", Pass::backward}};
template <>
inline const auto names_of<Dq> = names_from<Dq>(dq_names, &DqName::dq);

struct BackwardKeys {
  Pass pass{};
  Dq dq{};
  bool small_kernels{};

  struct Needed {
    static constexpr std::string_view what = "pass = backward";
    static bool met(const BackwardKeys& keys) { return keys.pass == Pass::backward; }
  };

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {
        {"mask",
         {{"pass", problem, choice, field_of<Keys, &Keys::pass>(), sweep_commands, "forward",
           "backward: an item is a K/V tile of a K/V head and scans the Q tiles that see it"}}},
        {"lse",
         {{"dq", schedule, choice, field_with<Keys, &Keys::dq, Needed>(), sweep_commands, "atomic",
           "backward: additions to dQ in any order or in that of the items, or a kernel of its "
           "own"},
          {"small-kernels", schedule, on_off, field_with<Keys, &Keys::small_kernels, Needed>(),
           sweep_commands, "off",
           "backward: also the kernels before (row sums of dO x O) and behind (dQ to its type)"}}}};
  }
  static constexpr auto columns = std::to_array<ResultColumn>(
      {{"dq", ColumnKind::optional}, {"small_kernels", ColumnKind::optional}});

  // Some schedules are forward's alone.
  template <class Point>
  static void check_schedule(const Layers& layers, Point& point) {
    auto& schedule = point.request.schedule;
    schedule.dq = point.keys.dq;
    schedule.small_kernels = point.keys.small_kernels;
    layers.fail_for(sim::backward_fault(point.request));
  }
};

}  // namespace sawtooth::experiments
