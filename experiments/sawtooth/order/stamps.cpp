#include "experiments/sawtooth/order/stamps.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

/// Whole numbers of one table, by column.
class Numbers {
 public:
  explicit Numbers(const CsvTable& table) : table_(table) {}

  size_t column(std::string_view name) const {
    const auto found = table_.column(name);
    if (!found)
      throw UsageError(table_.path + ":1: column '" + std::string(name) +
                       "' is missing; stamps have cta, item, tile, sm, time_ns");
    return *found;
  }
  int64_t at(size_t row, size_t column) const {
    const std::string& text = table_.rows[row][column];
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value >= 0) return value;
    throw UsageError(table_.path + ":" + std::to_string(table_.line_of_row[row]) + ": " +
                     table_.header[column] + " '" + text + "' is no whole number from 0 on");
  }

 private:
  const CsvTable& table_;
};

}  // namespace

Stamps read_stamps(const CsvTable& table, int64_t q_tiles) {
  const Numbers numbers(table);
  Stamps stamps;
  stamps.q_tiles = q_tiles;
  if (table.rows.empty()) throw UsageError(table.path + ": has no stamps");
  if (table.column("kv_tile")) {
    const size_t worker = numbers.column("worker"), batch = numbers.column("batch"),
                 head = numbers.column("head"), q_tile = numbers.column("q_tile"),
                 kv_tile = numbers.column("kv_tile"), sm = numbers.column("sm"),
                 time = numbers.column("start_ns");
    int64_t heads = 0;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      heads = std::max(heads, numbers.at(row, head) + 1);
      stamps.q_tiles = std::max(stamps.q_tiles, numbers.at(row, q_tile) + 1);
    }
    for (size_t row = 0; row < table.rows.size(); ++row)
      stamps.steps.push_back({.worker = numbers.at(row, worker),
                              .head = numbers.at(row, batch) * heads + numbers.at(row, head),
                              .q_tile = numbers.at(row, q_tile),
                              .kv_tile = numbers.at(row, kv_tile),
                              .sm = numbers.at(row, sm),
                              .start_ns = numbers.at(row, time)});
  } else {
    const size_t cta = numbers.column("cta"), item = numbers.column("item"),
                 tile = numbers.column("tile"), sm = numbers.column("sm"),
                 time = numbers.column("time_ns");
    if (q_tiles < 1)
      throw UsageError(
          "--q-tiles: not given; the number of Q tiles of a head, so that item = head "
          "x q-tiles + Q tile");
    for (size_t row = 0; row < table.rows.size(); ++row)
      stamps.steps.push_back({.worker = numbers.at(row, cta),
                              .head = numbers.at(row, item) / q_tiles,
                              .q_tile = numbers.at(row, item) % q_tiles,
                              .kv_tile = numbers.at(row, tile),
                              .sm = numbers.at(row, sm),
                              .start_ns = numbers.at(row, time)});
  }
  int64_t first_ns = stamps.steps.front().start_ns;
  for (const RecordedStep& step : stamps.steps) {
    first_ns = std::min(first_ns, step.start_ns);
    stamps.heads = std::max(stamps.heads, step.head + 1);
  }
  for (RecordedStep& step : stamps.steps) {
    step.start_ns -= first_ns;
    step.item = step.head * stamps.q_tiles + step.q_tile;
  }
  std::stable_sort(stamps.steps.begin(), stamps.steps.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  std::map<std::tuple<int64_t, int64_t>, int64_t> steps_of_run;
  for (RecordedStep& step : stamps.steps) step.step = steps_of_run[{step.worker, step.item}]++;
  return stamps;
}

std::vector<StampedRun> runs_of(const Stamps& stamps) {
  std::vector<StampedRun> runs;
  std::map<std::tuple<int64_t, int64_t>, size_t> place;  // (item, CTA) -> run
  std::map<int64_t, int64_t> ctas_of_item;
  for (const RecordedStep& step : stamps.steps) {
    const auto [at, is_new] = place.try_emplace({step.item, step.worker}, runs.size());
    if (is_new) {
      StampedRun run;
      run.cta = step.worker;
      run.item = step.item;
      run.first_ns = step.start_ns;
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
