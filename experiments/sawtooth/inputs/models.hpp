// The models that a prediction is made with. A model of L2 or of time is added to its table here,
// and then exists for the command line, the help and `sawtooth schedules`.
#pragma once

#include <array>
#include <string_view>

#include "sim/belady/simulate_opt.hpp"
#include "sim/gpu.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/request.hpp"
#include "sim/schedule/beside_tiles.hpp"
#include "sim/schedule/l2_parts.hpp"
#include "sim/sets/simulate_sets.hpp"
#include "sim/timed/simulate_timed.hpp"

namespace sawtooth::experiments {

struct L2Model {
  std::string_view name;
  std::string_view description;
  /// Replays the request in lockstep; throws std::invalid_argument for what the model cannot do.
  sim::Prediction (*predict)(const sim::Request& request, const sim::Gpu& gpu);
  bool has_curve;       // fills the histogram of reuse distances
  bool halves = false;  // two of them where the GPU has them
};

inline sim::Prediction predict_halves(const sim::Request& request, const sim::Gpu& gpu) {
  const sim::HalvesModel model = sim::halves_model(request, gpu);
  return sim::simulate_halves(request, model.l2, model.coalescer);
}

inline constexpr auto l2_models = std::to_array<L2Model>({
    {"lru", "one block of memory, fully associative, least recently used leaves, exact",
     [](const sim::Request& request, const sim::Gpu&) { return sim::simulate_lru(request); }, true},
    {"sets", "hashed sets of some ways with a policy each (l2-ways, l2-hash, l2-policy, hints)",
     [](const sim::Request& request, const sim::Gpu&) { return sim::simulate_sets(request); },
     false},
    {"opt", "as lru, but the line that is needed last leaves: the bound of every replacement",
     [](const sim::Request& request, const sim::Gpu&) { return sim::simulate_opt(request); },
     false},
    {"halves", "two halves with copies, a fabric and hashed sets, as calibrated (h200)",
     predict_halves, false, true},
});

struct TimingModel {
  std::string_view name;
  std::string_view description;
  sim::Timing timing;
};

inline constexpr auto timing_models = std::to_array<TimingModel>({
    {"lockstep", "all workers advance one K/V tile a step and go on at once",
     sim::Timing::lockstep},
    {"lockstep-wave", "as lockstep, but no worker goes on before all items in flight have ended",
     sim::Timing::lockstep_wave},
    {"timed", "steps take time, late data makes its CTA wait, tickets go to the first in time",
     sim::Timing::timed},
});

struct HashName {
  std::string_view name;
  std::string_view description;
  sim::HashKind hash;
};
inline constexpr auto l2_hashes = std::to_array<HashName>({
    {"balanced", "any number of sets; each run of neighbouring lines fills all sets evenly",
     sim::HashKind::balanced},
    {"xor", "a power of two of sets; the line number folded, or the matrix of l2-hash-matrix",
     sim::HashKind::exclusive_or},
    {"modulo", "line number modulo the number of sets", sim::HashKind::modulo},
});

using sim::PolicyName;
inline constexpr const auto& l2_policies = sim::set_policies;

/// Value of `without` that leaves every mechanism of `timed` on.
inline constexpr std::string_view without_nothing = "nothing";

/// Replays the request with its model of time on `l2`.
inline sim::Prediction predict(const sim::Request& request, const sim::Gpu& gpu,
                               const L2Model& l2) {
  const auto replay = [&](const sim::Request& of) { return l2.predict(of, gpu); };
  sim::Prediction prediction =
      gpu.l2_parts.value_or(1) > 1           ? sim::simulate_parts(request, gpu, replay)
      : request.timing == sim::Timing::timed ? sim::median_launch(request, gpu, l2.halves)
                                             : replay(request);
  sim::add_attach_words(request, prediction);
  sim::add_zeros_of_boxes(request, prediction);
  return prediction;
}

/// The entry called `name` of one of the tables above; the option table has checked the name.
template <class Table>
constexpr const auto& model_named(const Table& table, std::string_view name) {
  for (const auto& entry : table)
    if (entry.name == name) return entry;
  return table.front();
}

}  // namespace sawtooth::experiments
