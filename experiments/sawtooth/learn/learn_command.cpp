#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <span>

#include "cupti/metric_table.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/learn/learn.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t usual_budget = 8;
constexpr int64_t length_unit = 1024;  // a multiple of every tile
constexpr double million = 1e6;

/// A launch that tells something: K and V of a head as a share of the L2 that a CTA reads first.
struct Wanted {
  double share;
  int64_t heads;
};
// Far inside, beyond, many short items, around the edge, and so long that the clock falls.
constexpr auto taught_wanted =
    std::to_array<Wanted>({{0.4, 1}, {1.35, 1}, {0.3, 4}, {1.1, 2}, {2.2, 8}, {0.8, 2}});
// Held back: lengths and heads between and beyond those.
constexpr auto held_wanted = std::to_array<Wanted>({{1.3, 2}, {2, 1}, {0.6, 4}, {1.8, 4}});

struct LearnOptions {
  PlainOptions options;
  std::vector<std::string> command;

  bool has_word(std::string_view word) const {
    return std::ranges::any_of(
        command, [&](const std::string& one) { return one.find(word) != std::string::npos; });
  }
};

std::vector<std::string> with_values(const std::vector<std::string>& command,
                                     const LearnProblem& problem) {
  std::vector<std::string> words = command;
  const std::vector<std::pair<std::string, std::string>> values{
      {"{seq}", std::to_string(problem.seq)},
      {"{heads}", std::to_string(problem.heads)},
      {"{causal}", problem.mask == "causal" ? "1" : "0"}};
  for (std::string& word : words)
    for (const auto& [name, value] : values)
      for (size_t at = 0; (at = word.find(name)) != std::string::npos;)
        word.replace(at, name.size(), value);
  return words;
}

/// Which of the launches teach: the nearest to each wanted one, of those with the usual scan.
std::vector<size_t> taught_of(const KernelLaunches& rows, int64_t count,
                              const std::function<double(int64_t)>& share) {
  std::vector<std::string> masks;
  for (const KernelLaunch& launch : rows.launches)
    if (std::ranges::find(masks, launch.problem.mask) == masks.end())
      masks.push_back(launch.problem.mask);
  std::vector<size_t> chosen;
  for (int64_t i = 0; i < std::min(count, std::ssize(rows.launches)); ++i) {
    const Wanted& wanted =
        taught_wanted[static_cast<size_t>(i) / masks.size() % taught_wanted.size()];
    std::optional<size_t> nearest;
    double least = 0;
    for (size_t k = 0; k < rows.launches.size(); ++k) {
      const LearnProblem& problem = rows.launches[k].problem;
      if (problem.mask != masks[static_cast<size_t>(i) % masks.size()] || !problem.scan.empty() ||
          std::ranges::find(chosen, k) != chosen.end())
        continue;
      const double far = std::abs(std::log(share(problem.seq) / wanted.share)) +
                         0.5 * std::abs(std::log(double(problem.heads) / double(wanted.heads)));
      if (!nearest || far < least) nearest = k, least = far;
    }
    if (nearest) chosen.push_back(*nearest);
  }
  for (const std::string& mask : masks) {
    const auto of_mask = [&](auto tells) {
      return std::ranges::count_if(chosen, [&](size_t k) {
        const LearnProblem& problem = rows.launches[k].problem;
        return problem.mask == mask && tells(share(problem.seq));
      });
    };
    constexpr double inside = 0.75;
    if (of_mask([](double) { return true; }) < 3 ||
        of_mask([](double of) { return of <= inside; }) == 0 ||
        of_mask([](double of) { return of > 1; }) == 0)
      throw UsageError(rows.path + ": mask " + mask +
                       " needs 3 launches that teach, one with K/V of a head inside L2 (at most "
                       "3/4 of a half of it) and one beyond; give more, or a larger --budget");
  }
  return chosen;
}

std::string described_problem(const LearnProblem& problem) {
  return "seq " + std::to_string(problem.seq) + ", heads " + std::to_string(problem.heads) + ", " +
         problem.mask + (problem.scan.empty() ? "" : ", " + problem.scan);
}

void print_launches(std::string_view title, const std::vector<KernelLaunch>& launches,
                    const std::vector<LaunchError>& errors) {
  if (launches.empty()) return;
  std::cout << title << '\n';
  const auto percent = [](double share) {
    return (share < 0 ? "" : "+") + fixed(100 * share, 1) + " %";
  };
  for (size_t i = 0; i < launches.size(); ++i)
    std::cout << "  " << described_problem(launches[i].problem) << ": "
              << fixed(launches[i].time_us, 0) << " us, predicted " << percent(errors[i].time)
              << "; " << fixed(launches[i].dram_read_sectors / million, 2)
              << " M DRAM reads, predicted " << percent(errors[i].dram_reads) << '\n';
}

/// Adds rows of these launches; false where the user interrupted them.
bool run_problems(const LearnOptions& learn, const std::vector<LearnProblem>& problems,
                  CsvTable& all) {
  const std::string gpu = learn.options.value_or("gpu", "");
  RecordArguments record;
  record.launches.kernel = learn.options.value_or("kernel", "");
  record.launches.flush = true;
  record.gpu = gpu;
  refuse_other_injection();
  const std::string library = find_record_library();
  using enum cupti::L2Counter;
  const auto counters = std::to_array({sm_read, dram_read, l2_read_miss});
  record.metrics = cupti::metrics_for(plan_groups(record).chip, counters);
  const CounterGroups planned = plan_groups(record);
  for (const LearnProblem& problem : problems) {
    std::cerr << "learn: " << described_problem(problem) << '\n';
    record.command = with_values(learn.command, problem);
    const Recording recording = record_command(record, planned.groups, library);
    if (recording.interrupted) return false;
    if (!recording.ends.empty())
      throw UsageError(recording.ends.front() + ": " + join_list(record.command, " "));
    CsvTable table =
        parse_csv(record_table(merge_passes(recording.passes, 1 + planned.groups.size()),
                               planned.metrics, planned.chip, {"learn", gpu, "cold"}),
                  "learn");
    if (table.rows.empty())
      throw UsageError("no launch of the command matched --kernel: " +
                       join_list(record.command, " "));
    for (const auto& [column, text] :
         {std::pair{"seq_q", std::to_string(problem.seq)},
          std::pair{"seq_kv", std::to_string(problem.seq)},
          std::pair{"heads", std::to_string(problem.heads)},
          std::pair{"kv_heads", std::to_string(problem.kv_heads)}, std::pair{"mask", problem.mask},
          std::pair{"dtype", learn.options.value_or("dtype", "bf16")},
          std::pair{"head_dim", learn.options.value_or("head-dim", "")}})
      for (CsvRow& row : table.rows) row[*table.column(column)] = text;
    all.path = table.path;
    all.header = table.header;
    all.rows.insert(all.rows.end(), table.rows.begin(), table.rows.end());
  }
  all.line_of_row.resize(all.rows.size());
  std::iota(all.line_of_row.begin(), all.line_of_row.end(), 2);
  return true;
}

/// The launch of `possible` that two descriptions differ most in, and what to say of it.
std::pair<LearnProblem, std::string> telling_launch(const KernelLaunches& rows,
                                                    const LearntKernel& learnt,
                                                    const std::vector<LearnProblem>& possible,
                                                    Catalog& catalog, size_t threads) {
  std::vector<KernelLaunch> launches;
  for (const LearnProblem& problem : possible)
    launches.push_back({.problem = problem, .time_us = 1, .dram_read_sectors = 1});
  LearntKernel rival = learnt;
  rival.description = *learnt.rival;
  const auto ones = errors_of(rows, launches, learnt, catalog, threads);
  const auto others = errors_of(rows, launches, rival, catalog, threads);
  size_t best = 0;
  double most = -1;
  for (size_t i = 0; i < launches.size(); ++i) {
    constexpr double weight_of_time = 4;
    const double apart =
        std::abs(std::log(ones[i].predicted_dram_reads / others[i].predicted_dram_reads)) +
        weight_of_time *
            std::abs(std::log(ones[i].predicted_time_us / others[i].predicted_time_us));
    if (apart > most) most = apart, best = i;
  }
  const auto counts = [](const LaunchError& one) {
    return fixed(one.predicted_dram_reads / million, 2) + " M DRAM reads and " +
           fixed(one.predicted_time_us, 0) + " us";
  };
  return {possible[best], "two descriptions fit alike, the other one is " +
                              rival.description.text() + "; " + described_problem(possible[best]) +
                              " would tell them apart: " + counts(ones[best]) + ", or " +
                              counts(others[best])};
}

struct Learnt {
  KernelLaunches rows;
  std::vector<size_t> taught;
  LearntKernel kernel;
};

class Learn {
 public:
  Learn(const LearnOptions& learn, Catalog& catalog)
      : learn_(learn),
        catalog_(catalog),
        budget_(learn.options.count_or("budget", usual_budget)),
        threads_(static_cast<size_t>(std::max<int64_t>(
            1, learn.options.count_or("threads", static_cast<int64_t>(threads_of("")))))) {}

  /// From what is recorded.
  Learnt of(const CsvTable& table) {
    Learnt learnt{read_launches(table), {}, {}};
    const sim::Gpu& gpu = profile(learnt.rows.gpu);
    learnt.taught = taught_of(learnt.rows, taught_count(), [&](int64_t seq) {
      return share_of_l2(gpu, seq, learnt.rows.head_dim, learnt.rows.dtype);
    });
    learnt.kernel = learn_kernel(learnt.rows, launches_at(learnt, true),
                                 described(learnt.rows, gpu, rows_of("tile-q"), rows_of("tile-kv")),
                                 catalog_, threads_);
    return learnt;
  }

  /// Runs the command; nothing where it was interrupted.
  std::optional<Learnt> of_command(CsvTable& table) {
    std::vector<LearnProblem> problems = wanted(taught_wanted, taught_count());
    const std::vector<LearnProblem> held = wanted(held_wanted, 2);
    problems.push_back(held.front());
    if (!run_problems(learn_, problems, table)) return {};
    Learnt learnt = of(table);
    if (!learnt.kernel.rival) {
      if (!run_problems(learn_, {held.back()}, table)) return {};
      learnt.rows = read_launches(table);
      return learnt;
    }
    if (!run_problems(learn_, {tell(learnt).first}, table)) return {};
    ++budget_;  // it teaches too
    return of(table);
  }

  int64_t taught_count() const { return std::max<int64_t>(1, budget_ - 2); }

  std::vector<KernelLaunch> launches_at(const Learnt& learnt, bool taught) const {
    std::vector<KernelLaunch> launches;
    for (size_t i = 0; i < learnt.rows.launches.size(); ++i)
      if ((std::ranges::find(learnt.taught, i) != learnt.taught.end()) == taught)
        launches.push_back(learnt.rows.launches[i]);
    return launches;
  }

  void print(const Learnt& learnt) {
    std::cout << one_line(learnt.rows.kernel) << ", head dim " << learnt.rows.head_dim << ", on "
              << learnt.rows.gpu << "\n  " << learnt.kernel.description.text() << '\n';
    for (const auto& [mask, costs] : learnt.kernel.costs)
      std::cout << "mask " << mask << ": step " << fixed(costs.step_ns.value, 0) << " ns, item "
                << fixed(costs.item_ns.value / ns_a_us, 1) << " us. " << sentence(costs) << '\n';
    if (learnt.kernel.power_slowness > 0)
      std::cout << "A long launch takes " << fixed(100 * learnt.kernel.power_slowness, 0)
                << " % longer, once the clock has fallen.\n";
    for (const bool taught : {true, false}) {
      const auto launches = launches_at(learnt, taught);
      print_launches(taught ? "launches that taught:" : "launches held back:", launches,
                     errors_of(learnt.rows, launches, learnt.kernel, catalog_, threads_));
    }
    if (learnt.kernel.rival) std::cout << tell(learnt).second << '\n';
  }

 private:
  const sim::Gpu& profile(const std::string& name) {
    return catalog_.gpu(Assignment{{name}, {}}).profile;
  }
  std::optional<int64_t> rows_of(std::string_view key) const {
    if (!learn_.options.has(key)) return {};
    return std::max<int64_t>(1, learn_.options.count_or(key, 0));
  }
  std::vector<LearnProblem> wanted(std::span<const Wanted> from, int64_t count) {
    const sim::Gpu& gpu = profile(learn_.options.value_or("gpu", ""));
    const double of_unit = share_of_l2(gpu, length_unit, learn_.options.count_or("head-dim", 1),
                                       learn_.options.value_or("dtype", "bf16"));
    std::vector<std::string> masks{"none", "causal"};  // in turn
    if (!learn_.has_word("{causal}")) masks = {learn_.options.value_or("mask", "none")};
    std::vector<LearnProblem> problems;
    const size_t most = masks.size() * from.size();
    for (size_t i = 0; i < std::min(most, static_cast<size_t>(count)); ++i) {
      const Wanted& one = from[i / masks.size()];
      const int64_t heads = learn_.has_word("{heads}") ? one.heads : 1;
      const int64_t units = std::max<int64_t>(1, std::llround(one.share / of_unit));
      problems.push_back({units * length_unit, heads, heads, masks[i % masks.size()], ""});
    }
    return problems;
  }
  std::pair<LearnProblem, std::string> tell(const Learnt& learnt) {
    std::vector<LearnProblem> possible;
    for (const KernelLaunch& launch : learnt.rows.launches)
      for (const int64_t times : {3, 4}) {
        LearnProblem& longer = possible.emplace_back(launch.problem);
        longer.seq = longer.seq * times / 2;
        longer.scan.clear();
      }
    return telling_launch(learnt.rows, learnt.kernel, possible, catalog_, threads_);
  }

  const LearnOptions& learn_;
  Catalog& catalog_;
  int64_t budget_;
  size_t threads_;
};

LearnOptions parse(const Command& command, const Arguments& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  LearnOptions learn{
      parse_plain_options(command.name, {arguments.begin(), dashes}, command.flags, 0), {}};
  if (dashes != arguments.end()) learn.command.assign(dashes + 1, arguments.end());
  if (!learn.options.has("output"))
    throw UsageError("learn: name the system file to write: --output MINE.ini");
  if (learn.options.has("rows") == !learn.command.empty())
    throw UsageError(
        "learn: give either --rows RECORDED.csv or a command behind --, as in `sawtooth learn "
        "--gpu h200 --head-dim 128 --kernel attention --output mine.ini -- python3 bench.py --seq "
        "{seq} --heads {heads} --causal {causal}`");
  if (learn.options.has("rows")) return learn;
  Settings checked;
  for (const char* key : {"head-dim", "dtype", "mask"})
    if (learn.options.has(key)) assign(checked, key, learn.options.value_or(key, ""), {});
  for (const char* key : {"gpu", "head-dim", "kernel"})
    if (!learn.options.has(key))
      throw UsageError("learn: --" + std::string(key) + " is missing; a command needs it");
  if (!learn.has_word("{seq}"))
    throw UsageError(
        "learn: the command has no {seq}, which stands for the length; {heads} and "
        "{causal} (0 or 1) are taken too");
  return learn;
}

}  // namespace

int run_learn(const Command& command, const Arguments& arguments) {
  const LearnOptions options = parse(command, arguments);
  Catalog catalog;
  note_input(options.options.value_or("rows", ""));
  OutputFile output(options.options.value_or("output", ""));
  std::optional<OutputFile> csv;
  if (options.options.has("csv")) csv.emplace(options.options.value_or("csv", ""));
  Learn learn(options, catalog);
  CsvTable table;
  std::optional<Learnt> learnt;
  if (options.options.has("rows")) {
    table = read_csv(options.options.value_or("rows", ""));
    learnt = learn.of(table);
  } else {
    try {
      learnt = learn.of_command(table);
    } catch (const cupti::CounterError& error) {
      std::cerr << "sawtooth: " << error.what() << '\n';
      return exit_no_device;
    } catch (const PassMismatch& error) {
      std::cerr << "sawtooth: the command does not repeat its launches: " << error.what() << '\n';
      return exit_check_failed;
    }
    if (!learnt) return exit_interrupted;
  }
  if (csv) {
    csv->write(csv_line(table.header));
    for (const CsvRow& row : table.rows) csv->write(csv_line(row));
    csv->commit();
  }
  output.write(system_text(learnt->rows, learnt->kernel, learnt->taught.size()));
  output.commit();
  learn.print(*learnt);
  return exit_fine;
}

}  // namespace sawtooth::experiments
