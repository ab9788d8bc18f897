#include "experiments/sawtooth/search/screening.hpp"

#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

void set(Settings& settings, const std::string& key, const std::string& value) {
  settings[key] = {{value}, {"screening", 0}};
}

int64_t whole_tiles(int64_t rows, int64_t tile) {
  return max_of(tile, rows / tile * tile);
}

}  // namespace

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

Candidate shortened(const Candidate& candidate, int64_t divisor, const std::string& experiment,
                    Catalog& catalog) {
  const sim::Request& request = candidate.point.request;
  const Problem& problem = request.problem;
  Settings settings = candidate.settings;
  settings.erase("seq");
  set(settings, "seq-q",
      std::to_string(whole_tiles(problem.seq_q / divisor, request.tiling.q_rows)));
  set(settings, "seq-kv",
      std::to_string(whole_tiles(problem.seq_kv / divisor, request.tiling.kv_rows)));
  set(settings, "tile-q", std::to_string(request.tiling.q_rows));
  set(settings, "tile-kv", std::to_string(request.tiling.kv_rows));
  if (problem.mask.kind == MaskKind::window)
    set(settings, "mask",
        std::string("window:").append(std::to_string(max_of(1, problem.mask.window / divisor))));
  // Two halves of whole lines.
  constexpr int64_t unit = 2 * line_bytes;
  set(settings, "l2-bytes", std::to_string(max_of(unit, request.l2_bytes / divisor / unit * unit)));
  // In heads: auto:BYTES would change with the length.
  if (settings.contains("section")) set(settings, "section", candidate.point.text("section"));
  return candidate_of(std::move(settings), experiment, catalog);
}

}  // namespace sawtooth::experiments
