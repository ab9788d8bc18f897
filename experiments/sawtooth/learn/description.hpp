// How a kernel is described that somebody else wrote: what its grids, registers and counters say at
// once, and what only predictions of its launches can tell apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sawtooth/learn/launches.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

namespace sawtooth::experiments {

/// Options of the point that stand for what was learnt, in the order of the file.
using DescriptionKeys = std::vector<std::pair<std::string, std::string>>;

struct Description {
  std::string launch = "grid", section = "1", q_order = "ascending", scan = "linear";
  int64_t tile_q = 0, tile_kv = 64;
  int64_t workers = 0;  // CTAs of a persistent kernel; 0: a CTA an item
  int64_t ctas_per_sm = 1;
  bool one_dimension = false;  // its grid does not say how heads and Q tiles follow each other
  Sharing sharing;             // of CTAs on an SM

  bool persistent() const { return workers > 0; }
  DescriptionKeys keys() const;
  /// The keys and their values that `other` has not alike, for people.
  std::string differs_from(const Description& other) const;
};

/// From grids a CTA an item, or CTAs that stay, whose reads by SMs say how many items they took;
/// CTAs an SM by registers, threads and shared memory. `tile_q`, `tile_kv`: given by the user.
/// Throws UsageError where neither fits, with what to give.
Description described(const KernelLaunches& rows, const sim::Gpu& gpu,
                      std::optional<int64_t> tile_q, std::optional<int64_t> tile_kv);

/// All that the launches may have been, which they do not say by themselves: launches of CTAs that
/// stay, Q orders and scans of a masked kernel, how heads follow each other in a grid of one side.
std::vector<Description> possible_orders(const Description& known, bool masked, bool several_heads);

/// How CTAs on an SM may share it; `known` alone where there is one.
std::vector<Description> possible_sharings(const Description& known);

}  // namespace sawtooth::experiments
