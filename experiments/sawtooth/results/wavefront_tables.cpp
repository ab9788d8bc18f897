#include "experiments/sawtooth/results/wavefront_tables.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::experiments {
namespace {

// Perfetto's page stays quick up to about this many slices.
constexpr size_t most_slices = 200'000;

struct Enough {};  // ends a replay early

class StepRecorder : public sim::WavefrontSink {
 public:
  StepRecorder(std::optional<int64_t> steps, int64_t workers)
      : limit_(steps), items_of_waves_(usual_waves * workers) {}

  void at(int64_t step, int64_t worker, const Item& item, const sim::TilePair& pair) {
    std::vector<WavefrontStep>& steps = wavefront_.steps;
    if (steps.empty()) items_of_waves_ += item.index;  // those before it see nothing
    // An item in flight is at a tile in every step.
    wavefront_.is_cut = limit_ ? step >= *limit_ : step > last_of_waves_ + 1;
    if (wavefront_.is_cut) throw Enough();
    if (item.index < items_of_waves_) last_of_waves_ = step;
    steps.push_back({step, worker, item.index, item.batch, pair.head, pair.q_tile, pair.kv_tile});
  }
  Wavefront take() {
    if (limit_) return std::move(wavefront_);
    const size_t all = wavefront_.steps.size();
    std::erase_if(wavefront_.steps,
                  [this](const WavefrontStep& at) { return at.step > last_of_waves_; });
    wavefront_.is_cut |= wavefront_.steps.size() < all;
    return std::move(wavefront_);
  }

 private:
  std::optional<int64_t> limit_;
  int64_t items_of_waves_;
  int64_t last_of_waves_ = 0;
  Wavefront wavefront_;
};

struct Slice {
  WavefrontStep first;
  WavefrontStep last;
};

// Steps of one worker on one item, merged when `merge`; in the order of their beginnings.
std::vector<Slice> slices_of(const std::vector<WavefrontStep>& wavefront, bool merge) {
  std::vector<Slice> slices;
  std::map<int64_t, size_t> open;  // worker -> its last slice
  for (const WavefrontStep& step : wavefront) {
    const auto found = open.find(step.worker);
    if (merge && found != open.end() && slices[found->second].first.item == step.item) {
      slices[found->second].last = step;
      continue;
    }
    open[step.worker] = slices.size();
    slices.push_back({step, step});
  }
  return slices;
}

std::string slice_event(const Slice& slice, size_t process) {
  const WavefrontStep& step = slice.first;
  std::ostringstream json;
  json << R"({"name":"K/V )" << step.kv_tile;
  if (slice.last.step != step.step) json << ".." << slice.last.kv_tile;
  json << R"(","ph":"X","ts":)" << step.step << R"(,"dur":)" << slice.last.step - step.step + 1
       << R"(,"pid":)" << process << R"(,"tid":)" << step.worker << R"(,"args":{"item":)"
       << step.item << R"(,"batch":)" << step.batch << R"(,"head":)" << step.head << R"(,"q_tile":)"
       << step.q_tile << R"(,"kv_tile":)" << step.kv_tile << R"(,"last_kv_tile":)"
       << slice.last.kv_tile << "}}";
  return json.str();
}

std::string name_event(std::string_view what, size_t process, int64_t thread,
                       const std::string& name) {
  std::ostringstream json;
  json << R"({"name":")" << what << R"(","ph":"M","pid":)" << process << R"(,"tid":)" << thread
       << R"(,"args":{"name":)" << json_string(name) << "}}";
  return json.str();
}

std::string point_title(const CsvRow& cells) {
  return cells[result_column("scan")] + ", " + cells[result_column("launch")] + ", " +
         cells[result_column("timing")] + ", mask " + cells[result_column("mask")] + ", seq " +
         cells[result_column("seq_kv")];
}

}  // namespace

Wavefront wavefront_steps(const sim::Request& request, std::optional<int64_t> steps) {
  sim::LiveAtoms atoms(request);
  StepRecorder recorder(steps, request.schedule.workers);
  sim::LockstepWavefront wavefront(request, atoms, recorder);
  try {
    wavefront.run();
  } catch (const Enough&) {
  }
  return recorder.take();
}

std::optional<int64_t> steps_asked_for(const Settings& outputs) {
  const std::string steps = value_or(outputs, "wavefront-steps", "");
  return steps.empty() ? std::nullopt : std::optional(std::stoll(steps));
}

std::string cut_note(const CsvRow& key_cells, std::optional<int64_t> steps) {
  return "note: " + run_id(key_cells) + ": its wavefront is cut after " +
         (steps ? std::to_string(*steps) + " steps" : "two waves") +
         "; --wavefront-steps takes more\n";
}

std::string wavefront_header() {
  return csv_line(
      {"run_id", "scan", "step", "worker", "item", "batch", "head", "q_tile", "kv_tile"});
}

std::string wavefront_rows(const CsvRow& key_cells, const std::vector<WavefrontStep>& wavefront) {
  const std::string id = run_id(key_cells);
  std::string text;
  for (const WavefrontStep& at : wavefront)
    text += csv_line(
        with_numbers({id, key_cells[result_column("scan")]},
                     {at.step, at.worker, at.item, at.batch, at.head, at.q_tile, at.kv_tile}));
  return text;
}

std::string timeline_json(const std::vector<TimelinePoint>& points) {
  size_t all_steps = 0;
  for (const TimelinePoint& point : points) all_steps += point.wavefront.size();
  const bool merge = all_steps > most_slices;
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  const auto add = [&](const std::string& event) {
    if (!json.ends_with("[\n")) json += ",\n";
    json += event;
  };
  for (size_t p = 0; p < points.size(); ++p) {
    add(name_event("process_name", p, 0, point_title(points[p].key_cells)));
    int64_t workers = 0;
    for (const WavefrontStep& step : points[p].wavefront)
      workers = std::max(workers, step.worker + 1);
    for (int64_t w = 0; w < workers; ++w)
      add(name_event("thread_name", p, w, "CTA " + std::to_string(w)));
    for (const Slice& slice : slices_of(points[p].wavefront, merge)) add(slice_event(slice, p));
  }
  return json + "\n]}\n";
}

WavefrontFiles::WavefrontFiles(const Settings& outputs) : steps_(steps_asked_for(outputs)) {
  const std::string table = value_or(outputs, "wavefront", "");
  if (!table.empty()) table_.emplace(table).write(wavefront_header());
  const std::string timeline = value_or(outputs, "timeline", "");
  if (!timeline.empty()) timeline_.emplace(timeline_path_ = timeline);
}

std::string WavefrontFiles::add(const sim::Request& request, const CsvRow& key_cells) {
  if (!table_ && !timeline_) return "";
  Wavefront wavefront = wavefront_steps(request, steps_);
  if (table_) table_->write(wavefront_rows(key_cells, wavefront.steps));
  if (timeline_) points_.push_back({key_cells, std::move(wavefront.steps)});
  return wavefront.is_cut ? cut_note(key_cells, steps_) : "";
}

std::string WavefrontFiles::commit() {
  if (table_) table_->commit();
  if (!timeline_) return "";
  timeline_->write(timeline_json(points_));
  timeline_->commit();
  if (points_.size() < 2) return "";
  return "note: " + timeline_path_ + ": " + std::to_string(points_.size()) +
         " points, a process each, named by what they are\n";
}

}  // namespace sawtooth::experiments
