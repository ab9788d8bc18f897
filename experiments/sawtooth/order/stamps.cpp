#include <algorithm>
#include <map>
#include <tuple>

#include "experiments/sawtooth/order/find_schedule.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t most_cell = INT32_MAX, latest_ns = int64_t{1} << 61;

using S = RecordedStep;

// Columns of the table that `measure --order-trace` writes, and of the one of other kernels.
const TypedColumns<S> traced{{"worker", &S::worker},    {"batch", &S::batch},
                             {"head", &S::head},        {"q_tile", &S::q_tile},
                             {"kv_tile", &S::kv_tile},  {"sm", &S::sm},
                             {"start_ns", &S::start_ns}};
const TypedColumns<S> stamped{{"cta", &S::worker},
                              {"item", &S::item},
                              {"tile", &S::kv_tile},
                              {"sm", &S::sm},
                              {"time_ns", &S::start_ns}};

// Some stamps may be lost, but what none speaks of takes memory and time too.
void require_stamped(const Stamps& stamps, const std::string& path, bool fits_in,
                     const std::string& what) {
  if (!fits_in)
    throw UsageError(path + ": its " + std::to_string(stamps.steps.size()) + " stamps speak of " +
                     what + "; allowed: " + std::to_string(most_a_stamp) + " times as many");
}

int64_t most_of(const Stamps& stamps) {
  constexpr int64_t some = 4096;
  return most_a_stamp * std::ssize(stamps.steps) + some;
}

// Samples of all CTAs, a median step each.
void require_time_stamped(const Stamps& stamps, const std::string& path) {
  std::map<int64_t, std::pair<int64_t, int64_t>> times;  // of a CTA
  for (const RecordedStep& step : stamps.steps)
    times.try_emplace(step.worker, step.start_ns, 0).first->second.second = step.start_ns;
  const int64_t step_ns = median_step_ns(stamps.steps);
  int64_t samples = 0;
  for (const auto& [cta, time] : times) {
    samples = std::min(samples + (time.second - time.first) / step_ns, 2 * most_cell);
    require_stamped(stamps, path, samples <= most_of(stamps),
                    "some " + std::to_string(samples) + " steps of time");
  }
}

}  // namespace

Stamps read_stamps(const CsvTable& table, int64_t q_tiles) {
  const bool is_trace = table.column("kv_tile").has_value();
  Stamps stamps{0, q_tiles,
                typed_rows(table, is_trace ? traced : stamped,
                           "stamps with cta, item, tile, sm, time_ns, and order traces")};
  if (stamps.steps.empty()) throw UsageError(table.path + ": has no stamps");
  if (!is_trace && q_tiles < 1)
    throw UsageError(
        "--q-tiles: not given; the number of Q tiles of a head, so that item = head "
        "x q-tiles + Q tile");
  int64_t heads = 0;
  for (size_t row = 0; row < stamps.steps.size(); ++row) {
    S& step = stamps.steps[row];
    const auto [least, most] = std::minmax(
        {step.worker, step.batch, step.head, step.q_tile, step.kv_tile, step.sm, step.item});
    if (least < 0 || most > most_cell || step.start_ns < 0 || step.start_ns > latest_ns)
      fail_at(table.path, table.line_of_row[row],
              "a number is too large or below 0; allowed: up to 2^31 - 1, times up to 2^61");
    heads = std::max(heads, step.head + 1);
    stamps.q_tiles = std::max(stamps.q_tiles, step.q_tile + 1);
  }
  for (S& step : stamps.steps) {
    step.head = is_trace ? step.batch * heads + step.head : step.item / q_tiles;
    step.q_tile = is_trace ? step.q_tile : step.item % q_tiles;
    step.batch = 0;
  }
  int64_t first_ns = stamps.steps.front().start_ns;
  for (const RecordedStep& step : stamps.steps) {
    first_ns = std::min(first_ns, step.start_ns);
    stamps.heads = std::max(stamps.heads, step.head + 1);
  }
  const int64_t most = most_of(stamps);
  require_stamped(
      stamps, table.path, stamps.q_tiles <= most && stamps.heads <= most / stamps.q_tiles,
      std::to_string(stamps.heads) + " heads x " + std::to_string(stamps.q_tiles) + " Q tiles");
  for (RecordedStep& step : stamps.steps) {
    require_stamped(stamps, table.path, step.kv_tile < most,
                    "K/V tile " + std::to_string(step.kv_tile));
    step.start_ns -= first_ns;
    step.item = step.head * stamps.q_tiles + step.q_tile;
  }
  std::stable_sort(stamps.steps.begin(), stamps.steps.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::map<std::tuple<int64_t, int64_t>, int64_t> steps_of_run;
  for (RecordedStep& step : stamps.steps) step.step = steps_of_run[{step.worker, step.item}]++;
  require_time_stamped(stamps, table.path);
  return stamps;
}

std::vector<StampedRun> runs_of(const Stamps& stamps) {
  std::vector<StampedRun> runs;
  std::map<std::tuple<int64_t, int64_t>, size_t> place;  // (item, CTA) -> run
  std::map<int64_t, int64_t> ctas_of_item, begun;
  for (const RecordedStep& step : stamps.steps) {
    const auto [at, is_new] = place.try_emplace({step.item, step.worker}, runs.size());
    if (is_new) {
      StampedRun run;
      run.cta = step.worker;
      run.item = step.item;
      run.first_ns = step.start_ns;
      if (const auto last = begun.find(run.cta); last != begun.end()) run.after_ns = last->second;
      begun[run.cta] = run.first_ns;
      runs.push_back(std::move(run));
      ++ctas_of_item[step.item];
    }
    StampedRun& run = runs[at->second];
    run.last_ns = step.start_ns;
    run.tiles.push_back(step.kv_tile);
  }
  for (StampedRun& run : runs) run.whole = ctas_of_item[run.item] == 1;
  return runs;
}

}  // namespace sawtooth::experiments
