// sawtooth simulate: predicts every point of a sweep.
#include "experiments/sawtooth/simulate/simulate_command.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/model_choice.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/print_config.hpp"
#include "experiments/sawtooth/inputs/sets_options.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/failures.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/short_table.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/results/wavefront_tables.hpp"
#include "experiments/sawtooth/simulate/predicted_point.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/ordered_workers.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/progress.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) {
  interrupted = 1;
}

struct Job {
  Point point;
  CsvRow key_cells;
  double work = 0;  // pairs of tiles, a measure of its time
  bool old = false;
};

struct Done {
  CsvRow row;
  bool has_result = true;
  std::vector<std::string> side_rows;
  std::string method;
  std::string note;  // about the error of a sample
};

// "sets l2_ways 16 l2_hash xor ...": the L2 model with its parameters.
std::string l2_text(const CsvRow& key_cells) {
  std::string text = key_cells[result_column("l2")];
  for (size_t i = 0; i < key_column_count; ++i) {
    if (result_columns[i].kind != ColumnKind::parameter || key_cells[i].empty()) continue;
    text.append(" ").append(result_columns[i].name).append(" ").append(key_cells[i]);
  }
  return text;
}

std::string sampling_note(const CsvRow& row, const sim::Prediction& prediction) {
  if (!prediction.sampling) return "";
  const sim::Sampling& sampling = *prediction.sampling;
  std::ostringstream note;
  note << "note: " << row[result_column("run_id")] << ": followed " << sampling.tiles << " of "
       << sampling.all_tiles << " tiles";
  const auto add = [&](const char* name, const sim::Sectors& count, sim::Interval interval) {
    note << "; " << name << " " << count.value_or(0) << ", 95 % interval " << interval.low << " to "
         << interval.high;
  };
  add("l2_read_miss_sectors", prediction.total.l2_read_miss_sectors, sampling.l2_read_miss_sectors);
  add("l2_write_miss_sectors", prediction.total.l2_write_miss_sectors,
      sampling.l2_write_miss_sectors);
  note << "\n";
  return note.str();
}

// Which models made the rows, and how each was judged.
void print_models(const std::vector<Job>& jobs) {
  std::map<std::string, size_t> models;
  for (const Job& job : jobs) {
    const Point& point = job.point;
    std::string text = point.keys.gpu.empty() ? "" : point.keys.gpu + ": ";
    text.append(point.text("timing")).append(", ").append(point.text("l2"));
    text.append("; judged: ").append(point.judgement.word);
    if (!point.judgement.figures.empty()) text += " (" + point.judgement.figures + ")";
    if (point.hides_time) text += "; times are left out, --timing timed gives them";
    ++models[text];
  }
  for (const auto& [text, points] : models)
    std::cerr << "note: model " << text << " (" << points << (points == 1 ? " point" : " points")
              << ")\n";
}

class Simulation {
 public:
  Simulation(std::vector<Job> jobs, const Settings& outputs)
      : jobs_(std::move(jobs)),
        begun_(jobs_.size()),
        outputs_(outputs),
        log_(csv_path(outputs), old_rows(outputs)),
        sides_(outputs),
        wavefronts_(outputs) {
    std::vector<CsvRow> sweep;
    for (const Job& job : jobs_) sweep.push_back(job.key_cells);
    log_.refuse_changes(sweep);
  }

  int run() {
    std::vector<size_t> open;  // jobs that are not there yet
    double work = 0;
    for (size_t j = 0; j < jobs_.size(); ++j) {
      // Tables beside results.csv need the replay of every point again.
      jobs_[j].old = sides_.empty() && log_.has(jobs_[j].key_cells);
      if (jobs_[j].old) continue;
      open.push_back(j);
      work += jobs_[j].work;
    }
    log_.start();
    std::signal(SIGINT, note_interrupt);
    std::signal(SIGTERM, note_interrupt);
    std::optional<Progress> progress(std::in_place, open.size(), work, !is_on(outputs_, "quiet"));
    std::string notes;
    size_t next = 0;
    const auto keep_until = [&](size_t job) {
      for (; next < job; ++next) log_.keep(jobs_[next].key_cells);
    };
    run_in_order(
        open.size(), threads(), [&](size_t i) { return predict(open[i]); },
        [&](size_t i, const Done& done) {
          keep_until(open[i]);
          log_.append(done.row);
          if (!done.method.empty()) ++methods_[done.method];
          next = open[i] + 1;
          if (done.has_result) sides_.write(done.side_rows);
          if (!done.has_result) failures_.add(done.row);
          notes += done.note;
          progress->advance(jobs_[open[i]].work);
        },
        [&] {
          progress->draw(work_under_way(next));
          if (interrupted != 0) stop_now(next);
        });
    progress.reset();
    keep_until(jobs_.size());
    for (const Job& job : jobs_) {
      if (job.point.refusal.empty()) notes += wavefronts_.add(job.point.request, job.key_cells);
      if (interrupted != 0) stop_now(jobs_.size());
    }
    log_.finish();
    sides_.commit();
    wavefronts_.commit();
    if (!is_on(outputs_, "quiet")) print_models(jobs_);
    print_methods();
    if (for_people(outputs_)) std::cout << short_table(log_.sweep_rows());
    if (!is_on(outputs_, "quiet")) std::cerr << notes;
    say_what_was_written();
    failures_.print();
    return log_.failures() == 0 ? exit_fine : exit_check_failed;
  }

 private:
  size_t threads() const {
    const std::string given = value_or(outputs_, "threads", "");
    if (!given.empty()) return static_cast<size_t>(std::stoull(given));
    return std::max(1u, std::thread::hardware_concurrency());
  }

  /// Of points from `next` on, as far as their items have begun.
  double work_under_way(size_t next) const {
    double work = 0;
    for (size_t j = next; j < jobs_.size(); ++j) {
      if (!jobs_[j].point.refusal.empty()) continue;
      const sim::Request& request = jobs_[j].point.request;
      const int64_t items = item_count(request.problem, request.tiling, request.schedule);
      const auto all = static_cast<double>(items * std::max<int64_t>(1, request.launches));
      work += jobs_[j].work * std::min(1.0, static_cast<double>(begun_[j].load()) / all);
    }
    return work;
  }

  Done predict(size_t j) {
    const Job& job = jobs_[j];
    PredictedPoint predicted = predict_point(job.point, job.key_cells, &begun_[j]);
    Done result{std::move(predicted.row), false, {}, "", ""};
    if (!predicted.prediction) return result;
    try {
      result.side_rows = sides_.rows(job.key_cells, *predicted.prediction);
    } catch (const std::bad_alloc&) {
      result.row = row_without_result(job.key_cells, status_failed, "the memory is too small");
      return result;
    }
    result.has_result = true;
    result.note = sampling_note(result.row, *predicted.prediction);
    if (!predicted.prediction->method.empty())
      result.method = l2_text(job.key_cells) + ": " + predicted.prediction->method;
    return result;
  }

  void print_methods() const {
    if (is_on(outputs_, "quiet")) return;
    for (const auto& [method, points] : methods_) {
      std::cerr << "note: " << method << " (" << points << (points == 1 ? " point" : " points")
                << ")\n";
    }
  }

  void say_what_was_written() const {
    if (is_on(outputs_, "quiet") || !is_terminal(Output::error)) return;
    std::string files;
    for (const char* key :
         {"csv", "by-tensor", "miss-curve", "histogram", "wavefront", "timeline"}) {
      const std::string path = value_or(outputs_, key, "-");
      if (path != "-") files += (files.empty() ? "" : ", ") + path;
    }
    std::cerr << jobs_.size() << (jobs_.size() == 1 ? " point" : " points")
              << (files.empty() ? "; --csv FILE keeps all columns" : "; written: " + files) << "\n";
  }

  // Rows are complete lines in the partial file, so nothing is lost by ending here; points that
  // are under way may take minutes and are not waited for.
  [[noreturn]] void stop_now(size_t done) {
    sides_.abandon();
    wavefronts_.abandon();
    log_.unlock();
    std::cerr << "\nsawtooth: interrupted after " << done << " of " << jobs_.size() << " points";
    if (log_.has_partial_file()) {
      std::cerr << "; their rows are in " << log_.partial_path() << ", --resume goes on";
    }
    std::cerr << std::endl;
    std::cout.flush();
    std::_Exit(exit_interrupted);
  }

  std::vector<Job> jobs_;
  std::vector<std::atomic<int64_t>> begun_;  // items of each job
  const Settings& outputs_;
  ResultLog log_;
  SideTables sides_;
  WavefrontFiles wavefronts_;
  Failures failures_;
  std::map<std::string, int64_t> methods_;  // how models counted, and at how many points
};

double tile_pairs(const sim::Request& request) {
  const double pairs = static_cast<double>(request.problem.batch * request.problem.heads) *
                       static_cast<double>(q_tiles(request.problem, request.tiling)) *
                       static_cast<double>(kv_tiles(request.problem, request.tiling));
  return request.problem.mask.kind == MaskKind::causal ? pairs / 2 : pairs;
}

// What only the L2 model `sets` reads is refused where no point has that model.
void refuse_idle_sets_keys(const std::vector<Settings>& points, const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    if (job.point.keys.l2->name == "sets") return;
  }
  for (const Settings& settings : points) {
    for (const auto& [key, assignment] : settings) {
      if (!is_sets_key(key)) continue;
      throw UsageError(place_of(key, assignment.origin) + ": has no effect without l2 = sets");
    }
  }
}

// Tables over capacities need a model that counts at all of them.
void refuse_idle_curves(const Settings& outputs, const std::vector<Job>& jobs) {
  for (const char* key : {"miss-curve", "histogram"}) {
    if (!outputs.contains(key)) continue;
    for (const Job& job : jobs) {
      const L2Model& l2 = *job.point.keys.l2;
      if (l2.has_curve) continue;
      throw UsageError(place_of(key, outputs.at(key).origin) + ": l2 = " + std::string(l2.name) +
                       " counts at one capacity; allowed: l2 = lru");
    }
  }
}

std::vector<Job> resolved_jobs(const std::vector<Settings>& points, const std::string& experiment,
                               Catalog& catalog) {
  std::vector<Job> jobs;
  std::set<std::string> seen;  // sections of a configuration may share points
  for (const Settings& settings : points) {
    Job job{resolve_or_refuse(settings, catalog), {}, 0, false};
    if (job.point.keys.state != L2Content::cold)
      throw UsageError("state: simulate starts from an empty L2; allowed: cold");
    job.key_cells = key_cells(job.point, experiment, "predicted");
    if (job.point.refusal.empty()) job.work = tile_pairs(job.point.request);
    if (seen.insert(row_key(job.key_cells)).second) jobs.push_back(std::move(job));
  }
  refuse_idle_sets_keys(points, jobs);
  return jobs;
}

void print_notes(const Configuration& configuration, const Catalog& catalog,
                 const Command& command) {
  for (const auto& [name, limits] : catalog.limits()) {
    std::cerr << "note: system " << name << ": " << limits << "\n";
  }
  for (const auto& [key, assignment] : configuration.base) {
    if ((find_option(key)->commands & command.options) != 0) continue;
    std::cerr << "note: " << place_of(key, assignment.origin) << ": has no effect in "
              << command.name << "\n";
  }
}

}  // namespace

int run_simulate(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  const Configuration configuration =
      parsed.operands.empty() ? empty_configuration() : read_configuration(parsed.operands.front());
  const Settings outputs = output_settings(configuration, parsed.settings);
  const std::string experiment =
      value_or(outputs, "experiment",
               configuration.path.empty() ? "command-line" : stem_of(configuration.path));
  Catalog catalog;
  if (is_on(outputs, "print-config")) {
    std::cout << resolved_configuration(configuration, parsed.settings, experiment, catalog);
    return exit_fine;
  }
  auto points = expand(configuration, parsed.settings);
  const bool curves = outputs.contains("miss-curve") || outputs.contains("histogram");
  const std::string chosen = give_one_model(points, curves, catalog);
  auto jobs = resolved_jobs(points, experiment, catalog);
  refuse_idle_curves(outputs, jobs);
  if (!is_on(outputs, "quiet")) {
    if (!chosen.empty()) std::cerr << "note: " << chosen << "\n";
    print_notes(configuration, catalog, command);
  }
  return Simulation(std::move(jobs), outputs).run();
}

}  // namespace sawtooth::experiments
