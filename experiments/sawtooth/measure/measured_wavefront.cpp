#include "experiments/sawtooth/measure/measured_wavefront.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/integer_math.hpp"

namespace sawtooth::experiments {
namespace {

/// Replaces CTA numbers by slots: an item takes the first place of its SM that is free when it
/// starts. `recorded` is in the order of time.
void number_slots(std::vector<RecordedStep>& recorded, int64_t unit_ns) {
  struct Slots {
    std::set<int64_t> free;
    std::multimap<int64_t, int64_t> taken;  // until then
  };
  std::map<int64_t, int64_t> last_start;  // CTA -> start of its last step
  for (const RecordedStep& at : recorded) last_start[at.worker] = at.start_ns;
  std::map<int64_t, Slots> slots_of_sm;
  std::map<int64_t, int64_t> slot_of_cta;
  int64_t slots = 0;
  for (RecordedStep& at : recorded) {
    const auto known = slot_of_cta.find(at.worker);
    if (known != slot_of_cta.end()) {
      at.worker = known->second;
      continue;
    }
    auto& [free, taken] = slots_of_sm[at.sm];
    for (; !taken.empty() && taken.begin()->first <= at.start_ns; taken.erase(taken.begin()))
      free.insert(taken.begin()->second);
    if (free.empty()) free.insert(slots++);
    const int64_t slot = free.extract(free.begin()).value();
    // A CTA leaves after its last step; its follower may begin within the same unit.
    taken.emplace(last_start[at.worker] + unit_ns / 2, slot);
    at.worker = slot_of_cta[at.worker] = slot;
  }
}

/// From each start at a place to the next one there.
std::vector<int64_t> times_between(const std::vector<RecordedStep>& recorded,
                                   int64_t RecordedStep::*place) {
  std::set<std::pair<int64_t, int64_t>> starts;
  for (const RecordedStep& at : recorded) starts.emplace(at.*place, at.start_ns);
  std::vector<int64_t> times;
  for (auto at = starts.begin(); at != starts.end(); ++at)
    if (const auto next = std::next(at); next != starts.end() && next->first == at->first)
      times.push_back(next->second - at->second);
  return times;
}

}  // namespace

std::string item_trace_header() {
  return csv_line({"run_id", "repetition", "worker", "items_before", "item", "steps", "start_ns"});
}

std::string item_trace_rows(const CsvRow& key_cells, int64_t repetition,
                            const std::vector<MeasuredItem>& recorded) {
  const std::string id = run_id(key_cells);
  std::string text;
  for (const MeasuredItem& at : recorded)
    text += csv_line(with_numbers(
        {id}, {repetition, at.worker, at.items_before, at.item, at.steps, at.start_ns}));
  return text;
}

std::string order_trace_header() {
  return csv_line({"run_id", "scan", "worker", "items_before", "item", "step", "batch", "head",
                   "q_tile", "kv_tile", "sm", "start_ns"});
}

std::string order_trace_rows(const CsvRow& key_cells, const std::vector<RecordedStep>& recorded) {
  const std::string id = run_id(key_cells);
  std::string text;
  for (const RecordedStep& at : recorded)
    text += csv_line(with_numbers({id, key_cells[result_column("scan")]},
                                  {at.worker, at.items_before, at.item, at.step, at.batch, at.head,
                                   at.q_tile, at.kv_tile, at.sm, at.start_ns}));
  return text;
}

int64_t median_step_ns(const std::vector<RecordedStep>& recorded) {
  std::map<std::tuple<int64_t, int64_t>, int64_t> starts;  // (item, step) -> start
  for (const RecordedStep& at : recorded) starts[{at.item, at.step}] = at.start_ns;
  std::vector<int64_t> times;
  for (const auto& [key, start] : starts) {
    const auto next = starts.find({std::get<0>(key), std::get<1>(key) + 1});
    if (next != starts.end()) times.push_back(next->second - start);
  }
  // Where items have one step each, a CTA's next item or an SM's next CTA says how long it took.
  for (const auto place : {&RecordedStep::worker, &RecordedStep::sm})
    if (times.empty()) times = times_between(recorded, place);
  if (times.empty()) return 1;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return std::max<int64_t>(1, *middle);
}

int64_t steps_of_waves(const std::vector<RecordedStep>& recorded, int64_t workers, int64_t waves) {
  int64_t last_ns = 0;
  for (const RecordedStep& at : recorded)
    if (at.item < workers * waves) last_ns = std::max(last_ns, at.start_ns);
  return last_ns / median_step_ns(recorded) + 1;
}

std::vector<WavefrontStep> sampled_wavefront(std::vector<RecordedStep> recorded, int64_t steps,
                                             bool slots) {
  const int64_t unit_ns = median_step_ns(recorded);
  std::stable_sort(recorded.begin(), recorded.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  if (slots) number_slots(recorded, unit_ns);
  std::map<int64_t, std::vector<const RecordedStep*>> of_worker;
  for (const RecordedStep& at : recorded) of_worker[at.worker].push_back(&at);
  // Most steps take a median step: only a gap between stamps has many samples.
  const size_t most_samples = 4096 + 64 * recorded.size();
  std::vector<WavefrontStep> wavefront;
  for (const auto& [worker, history] : of_worker) {
    size_t next = 0;  // first record that starts after the sample
    for (int64_t step = ceil_div(history.front()->start_ns, unit_ns); step < steps; ++step) {
      const int64_t now_ns = step * unit_ns;
      while (next < history.size() && history[next]->start_ns <= now_ns) ++next;
      const RecordedStep& at = *history[next - 1];
      if (next == history.size() && now_ns >= at.start_ns + unit_ns) break;
      if (wavefront.size() == most_samples)
        throw UsageError("the stamps of CTA " + std::to_string(worker) +
                         " lie too far apart for steps of " + std::to_string(unit_ns) + " ns");
      wavefront.push_back({step, worker, at.item, at.batch, at.head, at.q_tile, at.kv_tile});
    }
  }
  std::stable_sort(wavefront.begin(), wavefront.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  return wavefront;
}

}  // namespace sawtooth::experiments
