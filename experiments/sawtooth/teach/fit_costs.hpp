// Costs of a kernel from durations of its launches, by the timed model.
//
// Four numbers explain the durations: what a step takes whose tiles are near, for a lone CTA and
// for one that shares its SM; what an item takes beyond its steps; and how many DRAM latencies of K
// and of V a step is exposed to. The last one is a lead as long as it is below 1 (the tile is asked
// for so early that a part of the latency is hidden) and a number of waits above it (loads that
// wait for registers go out one batch after another).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/kernel_cost.hpp"

namespace sawtooth::experiments {

struct TaughtRow {
  Point point;  // with costs of kernels/mma
  double time_ns = 0;
  int line = 0;
  bool linear = true;
  bool inside = false;  // a half of L2 (or L2 of one part) keeps K and V of a head
  bool warm = false;    // the launch before left K and V in L2
};

struct TaughtRows {
  std::string path;
  std::string kernel;  // column `kernel`; may be empty
  std::vector<TaughtRow> rows;
};

/// Rows with a time, but for predicted ones. Columns that are missing or empty have their defaults;
/// head_dim, tile_q, tile_kv, launch, workers, ctas_per_sm, scan, time_us and seq_q with seq_kv are
/// needed, and gpu unless `gpu` names it. Throws UsageError that names what is missing, what is
/// beside one kernel of one shape, and rows that are not for learning: other scans than linear, but
/// for one sawtooth row inside L2; fewer than 3 linear rows; none inside or none beyond L2.
TaughtRows taught_rows(const CsvTable& table, const std::string& gpu, Catalog& catalog);

/// The number of a cell. Throws UsageError unless it is one above 0.
template <class Number>
Number positive_number(const CsvTable& table, size_t row, std::string_view column) {
  const std::string text = table.cell(row, column);
  const auto number = number_of<Number>(text);
  if (!number || !(*number > 0))
    throw UsageError(table.place(row) + ": " + std::string(column) + ": '" + text +
                     "' is not allowed; allowed: a number above 0");
  return *number;
}

/// With 90 % confidence it lies from low to high.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// How CTAs drift apart and what they leave of L2, which durations hardly tell.
struct CtaDrift {
  bool keep_step = true;  // those that share an SM take turns
  double age_bias = 0;    // else the older one of two is ahead: a share of the exponentials' part
  std::optional<double> exposed = {};    // latencies that a step waits for; empty: it is fitted
  std::optional<double> sm_spread = {};  // of clocks of GPCs; empty: the GPU's
  double l2_taken = 0;  // by what is no part of the problem, such as spilled registers; a share
};

/// "LOW to HIGH".
std::string range(const Estimate& estimate, int decimals);

struct FittedCosts {
  sim::KernelCost cost;        // for the simulator
  Estimate step_ns;            // of a CTA, as it shares its SM in most rows, whose tiles are near
  Estimate item_ns;            // an item's, beyond its steps
  Estimate exposed;            // DRAM latencies of K, and of V, that a step waits for
  Estimate miss_ns;            // what a step takes longer whose tiles come from DRAM
  bool tells_sharing = false;  // rows with one and with several CTAs an SM were there
  std::vector<double> predicted_ns;  // of each row
};

/// By mask, each with a step of its own; items and exposed latencies are those of all. Rows of
/// several CTAs an SM tell what a lone one takes where some launch has no more items than the GPU
/// has SMs.
std::map<std::string, FittedCosts> fit_costs(const std::vector<TaughtRow>& rows, size_t threads,
                                             const CtaDrift& drift = {});
/// Costs with the steps and items of `fitted` of a launch that drifts otherwise.
sim::KernelCost drifting(const FittedCosts& fitted, const CtaDrift& drift, const Point& point);
/// Throws UsageError for rows that contradict each other: a time further than 15 % from the fit.
void refuse_contradictions(const TaughtRows& taught, const FittedCosts& fitted);

/// Lines of a file of kernel costs; `from` says where they come from.
std::vector<Parameter> parameters_of(const FittedCosts& fitted, const std::string& from);

/// Whether K and V come in time, in words.
std::string sentence(const FittedCosts& fitted);

}  // namespace sawtooth::experiments
