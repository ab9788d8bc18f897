#include <iostream>

#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

std::string points_path(const std::string& path) {
  constexpr std::string_view ending = ".csv";
  if (path.empty() || path == "-") return "/dev/null";
  const size_t stem = path.size() - (path.ends_with(ending) ? ending.size() : 0);
  return path.substr(0, stem) + ".points.csv";
}

}  // namespace

Evaluations::Evaluations(const Settings& outputs, const std::string& path)
    : threads_(threads_of(value_or(outputs, "threads", ""))),
      quiet_(is_on(outputs, "quiet")),
      log_(points_path(path), old_rows(outputs)) {}

void Evaluations::start(const std::vector<Shape>& shapes) {
  std::vector<CsvRow> cells;
  for (const Shape& shape : shapes)
    for (const Candidate& candidate : shape.candidates) cells.push_back(candidate.key_cells);
  log_.refuse_changes(cells);
  log_.start();
}

std::vector<CsvRow> Evaluations::of(const std::vector<const Candidate*>& candidates,
                                    const std::string& what) {
  std::vector<const Candidate*> open;
  double work = 0;
  for (const Candidate* candidate : candidates) {
    const std::string key = row_key(candidate->key_cells);
    if (known_.contains(key)) continue;
    known_[key];  // once, where it comes twice
    if (log_.has(candidate->key_cells)) {
      known_[key] = log_.old_row(candidate->key_cells);
      log_.keep(candidate->key_cells);
      continue;
    }
    open.push_back(candidate);
    work += steps_of(*candidate);
  }
  if (!quiet_ && !open.empty()) std::cerr << what << ": " << open.size() << " to predict\n";
  Progress progress(open.size(), work, !quiet_);
  run_in_order(
      open.size(), threads_,
      [&](size_t i) { return predict_point(open[i]->point, open[i]->key_cells).row; },
      [&](size_t i, CsvRow row) {
        log_.append(row);
        known_[row_key(open[i]->key_cells)] = std::move(row);
        progress.advance(steps_of(*open[i]));
      },
      [&] { progress.draw(); });
  std::vector<CsvRow> rows;
  for (const Candidate* candidate : candidates)
    rows.push_back(known_.at(row_key(candidate->key_cells)));
  return rows;
}

void Evaluations::finish() {
  log_.finish();
}

}  // namespace sawtooth::experiments
