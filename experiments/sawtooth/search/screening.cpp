#include "experiments/sawtooth/search/screening.hpp"

#include <algorithm>

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

void set(Settings& settings, const std::string& key, const std::string& value) {
  settings[key] = {{value}, {"screening", 0}};
}

// Only timing = timed has these keys.
void erase_timed_keys(Settings& settings) {
  for (const char* key : {"kernel-costs", "launches", "without", "step-ns", "step-exposed-ns",
                          "stages", "spill-bytes", "age-bias"})
    settings.erase(key);
}

// Its section is counted in heads: auto:BYTES would change with the length.
void keep_section(const Candidate& candidate, Settings& settings) {
  if (settings.contains("section")) set(settings, "section", candidate.point.text("section"));
}

int64_t whole_tiles(int64_t rows, int64_t tile) {
  return max_of(tile, rows / tile * tile);
}

}  // namespace

std::string model_of(const Point& point) {
  return point.text("timing") + ", " + point.text("l2");
}

bool lockstep_ranks(const Shape& shape) {
  return std::ranges::all_of(shape.candidates, [](const Candidate& candidate) {
    if (!candidate.point.refusal.empty()) return true;
    const sim::Request& request = candidate.point.request;
    return request.problem.mask.kind == MaskKind::none && candidate.point.keys.ctas_per_sm == 1 &&
           request.schedule.prefetch == 0 && request.schedule.loop == Loop::kv_inner &&
           request.timing == sim::Timing::timed;
  });
}

Screened in_lockstep(const Candidate& candidate, const std::string& experiment, Catalog& catalog) {
  Settings settings = candidate.settings;
  erase_timed_keys(settings);
  set(settings, "timing", "lockstep");
  set(settings, "l2", "lru");
  const int64_t parts = candidate.point.gpu.l2_halves.value_or(1);
  set(settings, "l2-bytes", std::to_string(candidate.point.request.l2_bytes / parts));
  keep_section(candidate, settings);
  Screened screened{candidate_of(std::move(settings), experiment, catalog), ""};
  screened.evaluated_by = model_of(screened.candidate.point);
  return screened;
}

int64_t shortening(const Candidate& candidate) {
  constexpr double enough_steps = 1 << 18;
  constexpr int64_t least_waves = 2, least_kv_tiles = 16;
  const sim::Request& request = candidate.point.request;
  double steps = steps_of(candidate);
  int64_t items = item_count(request.problem, request.tiling, request.schedule);
  int64_t tiles = kv_tiles(request.problem, request.tiling);
  int64_t divisor = 1;
  while (steps > enough_steps && items / 2 >= least_waves * request.schedule.workers &&
         tiles / 2 >= least_kv_tiles && q_tiles(request.problem, request.tiling) >= 2 * divisor) {
    divisor *= 2;
    steps /= 4;
    items /= 2;
    tiles /= 2;
  }
  return divisor;
}

Screened shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                   Catalog& catalog) {
  const sim::Request& request = candidate.point.request;
  const Problem& problem = request.problem;
  Settings settings = candidate.settings;
  settings.erase("seq");
  const int64_t q = whole_tiles(problem.seq_q / divisor, request.tiling.q_rows);
  const int64_t kv = whole_tiles(problem.seq_kv / divisor, request.tiling.kv_rows);
  set(settings, "seq-q", std::to_string(q));
  set(settings, "seq-kv", std::to_string(kv));
  set(settings, "tile-q", std::to_string(request.tiling.q_rows));
  set(settings, "tile-kv", std::to_string(request.tiling.kv_rows));
  if (problem.mask.kind == MaskKind::window)
    set(settings, "mask",
        std::string("window:").append(std::to_string(max_of(1, problem.mask.window / divisor))));
  // Two halves of whole lines.
  constexpr int64_t unit = 2 * line_bytes;
  set(settings, "l2-bytes", std::to_string(max_of(unit, request.l2_bytes / divisor / unit * unit)));
  keep_section(candidate, settings);
  Screened screened{candidate_of(std::move(settings), experiment, catalog), ""};
  screened.evaluated_by = model_of(candidate.point) + " on seq " + std::to_string(q);
  if (q != kv) screened.evaluated_by.append("x").append(std::to_string(kv));
  return screened;
}

}  // namespace sawtooth::experiments
