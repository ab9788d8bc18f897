// sawtooth simulate: predicts every point of a sweep.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/side_tables.hpp"
#include "experiments/sawtooth/results/wavefront_tables.hpp"
#include "experiments/sawtooth/simulate/crew.hpp"
#include "experiments/sawtooth/simulate/dispatcher.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void note_interrupt(int) {
  interrupted = 1;
}

// Which model made a row, and how it was judged.
std::string model_text(const Point& point) {
  std::string text = point.keys.gpu.empty() ? "" : point.keys.gpu + ": ";
  text.append(point.text("timing")).append(", ").append(point.text("l2"));
  text.append("; judged: ").append(point.judgement.text());
  if (point.judgement.known()) text += " (median / 90 %; a row has those of its kind of point)";
  if (point.spans_models())
    text += ", so that _low and _high span lockstep, lockstep-wave and timed where these can";
  if (!point.kernel_ends.empty())
    text += "; _low and _high span a kernel that hides latency and one that waits for its tiles";
  if (point.hides_time) text += "; times are left out, --timing timed gives them";
  return text;
}

void print_counted(const std::map<std::string, size_t>& points_of, const char* kind) {
  for (const auto& [text, points] : points_of)
    std::cerr << "note: " << kind << one_line(text) << " (" << how_many(points, "point") << ")\n";
}

/// Points that workers have, and how far they are.
class UnderWay {
 public:
  void begin(const Job& job) { running_.emplace(job.place, Running(job)); }
  /// Returns the cost of the point, which has ended.
  double end(size_t place) { return running_.extract(place).mapped().cost_s; }
  /// As far as the items of these points have begun.
  double work() const {
    double work = 0;
    for (const auto& [place, point] : running_)
      if (point.items > 0)
        work += point.cost_s * std::min(1.0, static_cast<double>(point.begun->load()) /
                                                 static_cast<double>(point.items));
    return work;
  }

 private:
  struct Running {
    double cost_s = 0;
    int64_t items = 0;
    std::shared_ptr<std::atomic<int64_t>> begun;

    explicit Running(const Job& job) : cost_s(job.cost_s), begun(job.begun) {
      if (!job.point.refusal.empty()) return;
      const sim::Request& request = job.point.request;
      items = item_count(request.problem, request.tiling, request.schedule) *
              std::max<int64_t>(1, request.launches);
      if (request.problem.pass == Pass::backward && request.schedule.dq == Dq::separate)
        items += whole_item_count(request.problem, request.tiling, request.schedule, Pass::forward);
    }
  };
  std::map<size_t, Running> running_;  // by place
};

/// What is still to be simulated of a sweep: points, and their expected time.
struct OpenWork {
  size_t points = 0;
  double seconds = 0;
};

// The work of the whole list is estimated from points at equal distances.
OpenWork expected_work(SimulatedSweep& sweep) {
  constexpr size_t most_samples = 256;
  const size_t points = sweep.list().size(), samples = std::min(points, most_samples);
  double sum = 0;
  for (size_t i = 0; i < samples; ++i) sum += sweep.at(i * (points / samples)).cost_s;
  return {points, sum * static_cast<double>(points) / static_cast<double>(samples) /
                      static_cast<double>(sweep.shard().count)};
}

class Simulation {
 public:
  /// `ranks` is null in a process that is alone.
  Simulation(SimulatedSweep& sweep, const Settings& outputs, RankZero* ranks)
      : sweep_(sweep),
        ranks_(ranks),
        points_(sweep),
        outputs_(outputs),
        log_(csv_path(outputs), old_rows(outputs)),
        sides_(outputs),
        wavefronts_(outputs),
        rows_(log_, sides_) {}

  int run() {
    const OpenWork open = log_.has_old_rows() ? compare_with_old_rows() : expected_work(sweep_);
    const size_t workers = ranks_ != nullptr
                               ? ranks_->workers()
                               : std::min(threads_of(value_or(outputs_, "threads", "")),
                                          std::max<size_t>(1, open.points));
    // Rows in the order of the sweep come soonest in that order.
    const bool in_order = workers == 1 || !log_.has_partial_file();
    Dispatcher<Job> dispatcher([&](std::optional<Job>& job) { return next_open(job); }, workers);
    // What is wrong with one of these points is said before anything is written.
    dispatcher.look_ahead();
    if (sweep_.shard().count > 1) log_.keep_refused();
    if (for_people(outputs_)) log_.remember_rows();
    log_.start();
    started_ = true;
    std::signal(SIGINT, note_interrupt);
    std::signal(SIGTERM, note_interrupt);
    const auto begin = std::chrono::steady_clock::now();
    Crew crew(ranks_, workers, sides_);
    simulate(dispatcher, crew, in_order, Progress(open.points, open.seconds, !quiet_));
    note_busy_share(dispatcher.taken_s(), std::chrono::steady_clock::now() - begin, workers);
    add_wavefronts();
    log_.finish();
    sides_.commit();
    notes_ += wavefronts_.commit();
    if (!quiet_) {
      print_counted(models_, "model ");
      print_counted(rows_.methods(), "");
    }
    if (for_people(outputs_)) std::cout << short_table(log_.sweep_rows());
    if (!quiet_) std::cerr << notes_;
    say_what_was_written();
    rows_.failures().print();
    return log_.failures() == 0 ? exit_fine : exit_check_failed;
  }

 private:
  OpenWork compare_with_old_rows() {
    OpenWork open;
    SimulatedPoints points(sweep_);
    while (const auto job = points.next()) {
      log_.expect(job->key_cells);
      if (is_old(*job)) continue;
      ++open.points;
      open.seconds += job->cost_s;
    }
    log_.refuse_changes();
    return open;
  }

  // Tables beside results.csv need the replay of every point again.
  bool is_old(const SimulatedPoint& point) const {
    return sides_.empty() && log_.has(point.key_cells);
  }

  Supply next_open(std::optional<Job>& job) {
    while (!rows_.is_full()) {
      auto point = points_.next();
      if (!point) return Supply::end;
      ++models_[model_text(point->point)];
      if (!is_old(*point)) {
        job.emplace(Job{std::move(*point), std::make_shared<std::atomic<int64_t>>(0)});
        return Supply::job;
      }
      rows_.keep(point->place, std::move(point->key_cells));
      if (started_) rows_.write();
    }
    return Supply::later;
  }

  void simulate(Dispatcher<Job>& dispatcher, Crew& crew, bool in_order, Progress progress) {
    UnderWay under_way;
    for (rows_.write(); !dispatcher.has_ended();) {
      const bool is_full = rows_.is_full();
      if (!is_full) dispatcher.look_ahead();
      while (auto assignment = dispatcher.assign(is_full || in_order)) {
        under_way.begin(assignment->job);
        crew.give(assignment->worker, std::move(assignment->job));
        if (!is_full) dispatcher.look_ahead();
      }
      for (auto& finished : crew.collect(longest_wait)) {
        dispatcher.finished(finished.worker, finished.place, finished.seconds);
        if (finished.error) std::rethrow_exception(finished.error);
        rows_.take(finished.place, std::move(*finished.result));
        progress.advance(under_way.end(finished.place));
      }
      rows_.write();
      progress.draw(under_way.work());
      if (interrupted != 0) stop_now();
    }
  }

  // Long sweeps note for which share of the time workers had a point.
  void note_busy_share(double taken_s, std::chrono::duration<double> all, size_t workers) {
    constexpr size_t many_points = 1000;
    if (rows_.written() < many_points) return;
    notes_ += "note: " + std::to_string(workers) +
              (workers == 1 ? " worker was" : " workers were") + " simulating " +
              fixed(100 * taken_s / (all.count() * static_cast<double>(workers)), 1) + " % of " +
              fixed(all.count(), 1) + " s\n";
  }

  void add_wavefronts() {
    if (wavefronts_.empty()) return;
    SimulatedPoints points(sweep_);
    while (const auto job = points.next()) {
      if (job->point.refusal.empty()) notes_ += wavefronts_.add(job->point.request, job->key_cells);
      if (interrupted != 0) stop_now();
    }
  }

  void say_what_was_written() const {
    if (quiet_ || !is_terminal(Output::error)) return;
    std::string files;
    for (const char* key :
         {"csv", "by-tensor", "miss-curve", "histogram", "wavefront", "timeline"}) {
      const std::string path = value_or(outputs_, key, "-");
      if (path != "-") files += (files.empty() ? "" : ", ") + path;
    }
    std::cerr << how_many(points_.count(), "point")
              << (files.empty() ? "; --csv FILE keeps all columns" : "; written: " + files) << "\n";
  }

  // Rows are complete lines in the partial file, so nothing is lost by ending here; points that
  // are under way may take minutes and are not waited for.
  [[noreturn]] void stop_now() {
    remove_temporary_files();
    std::cerr << "\nsawtooth: interrupted after " << rows_.ended() << " of " << sweep_.list().size()
              << " points";
    if (log_.has_partial_file())
      std::cerr << "; their rows are in " << one_line(log_.partial_path()) << ", --resume goes on";
    std::cerr << std::endl;
    std::cout.flush();
    std::_Exit(exit_interrupted);
  }

  SimulatedSweep& sweep_;
  RankZero* ranks_;
  SimulatedPoints points_;
  const Settings& outputs_;
  const bool quiet_ = is_on(outputs_, "quiet");
  ResultLog log_;
  SideTables sides_;
  WavefrontFiles wavefronts_;
  RowsInOrder rows_;
  bool started_ = false;  // the log
  std::string notes_;
  std::map<std::string, size_t> models_;  // which make how many rows
};

void print_notes(const Configuration& configuration, const SimulatedSweep& sweep,
                 const Command& command) {
  for (const auto& [name, limits] : sweep.limits())
    std::cerr << "note: system " << name << ": " << one_line(limits) << "\n";
  for (const auto& [key, assignment] : configuration.base) {
    if ((find_option(key)->commands & command.options) != 0) continue;
    std::cerr << "note: " << one_line(place_of(key, assignment.origin)) << ": has no effect in "
              << command.name << "\n";
  }
}

int simulate(const Command& command, const Arguments& arguments, RankZero* ranks) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  const Settings& outputs = given.outputs;
  if (ranks != nullptr && outputs.contains("threads"))
    throw UsageError("--threads: each process of a job simulates one point at a time; leave it " +
                     std::string("out, and start more processes"));
  if (is_on(outputs, "print-config")) {
    Catalog catalog;
    std::cout << resolved_configuration(given.configuration, given.command_line, given.experiment,
                                        catalog);
    return exit_fine;
  }
  SimulatedSweep sweep(given);
  if (is_on(outputs, "dry-run")) return dry_run(sweep, outputs);
  if (!is_on(outputs, "quiet")) print_notes(given.configuration, sweep, command);
  return Simulation(sweep, outputs, ranks).run();
}

// Every rank reads the same arguments and files; what is wrong with them rank 0 says.
void serve(const Ranks& ranks, const Command& command, const Arguments& arguments) {
  std::optional<SweepArguments> given;
  std::optional<SimulatedSweep> sweep;
  std::optional<SideTables> sides;
  std::atomic<int64_t> items_begun = 0;
  serve_rank_zero(ranks, [&](size_t index) {
    if (!given) given = parse_sweep_arguments(command, arguments);
    if (!sweep) sweep.emplace(*given);
    if (!sides) sides.emplace(given->outputs, false);
    return simulate_point(sweep->at(index), *sides, items_begun);
  });
}

}  // namespace

int run_simulate(const Command& command, const Arguments& arguments) {
  const std::optional<Ranks> ranks = Ranks::open();
  if (!ranks) return simulate(command, arguments, nullptr);
  if (ranks->rank() == 0) {
    RankZero zero(*ranks);
    return simulate(command, arguments, &zero);
  }
  serve(*ranks, command, arguments);
  return exit_fine;
}

}  // namespace sawtooth::experiments
