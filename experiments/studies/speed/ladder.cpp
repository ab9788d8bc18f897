// ladder [LEVEL ...]: checks levels of kernels/ladder against the double-precision reference, times
// them in turn, and prints a table of CSV. Exit codes as `sawtooth`. Counters of its launches:
// sawtooth record -- ladder 3.
#include "kernels/ladder/ladder.hpp"

#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "kernels/common/event_pair.hpp"

namespace {

using namespace sawtooth;
using experiments::shortest;
using experiments::UsageError;

constexpr const char* usage =
    "ladder [LEVEL ...] [--batch 2] [--heads 8] [--seq 1024] [--dtype fp16|bf16] "
    "[--repetitions 20]\n";
constexpr int64_t check_tiles = 16;  // Q tiles of the output that are compared with the reference
constexpr uint64_t seed = 1;         // of the inputs

struct Options {
  std::vector<int> levels;
  Problem problem;
  int64_t repetitions = 0;
};

Options options_of(const std::vector<std::string>& words) {
  const int last = int(kernels::ladder::levels().size());
  constexpr experiments::PlainOption known[] = {{"batch", "N", "sequences"},
                                                {"heads", "N", "query heads, and K/V heads"},
                                                {"seq", "N", "rows"},
                                                {"dtype", "NAME", "fp16 or bf16"},
                                                {"repetitions", "N", "launches a level"}};
  const auto given = experiments::parse_plain_options("ladder", words, known, size_t(last));
  Options options;
  for (int level = 1; level <= last; ++level) {
    const auto& chosen = given.operands;
    if (chosen.empty() ||
        std::find(chosen.begin(), chosen.end(), std::to_string(level)) != chosen.end())
      options.levels.push_back(level);
  }
  if (!given.operands.empty() && options.levels.size() != given.operands.size())
    throw UsageError("levels are different ones of 1 to " + std::to_string(last));
  const std::string dtype = given.value_or("dtype", "fp16");
  if (dtype != "fp16" && dtype != "bf16")
    throw UsageError("--dtype: '" + dtype + "' is none of fp16, bf16");
  Problem& problem = options.problem;
  problem.dtype = dtype == "fp16" ? ElementType::fp16 : ElementType::bf16;
  problem.head_dim = kernels::ladder::head_dim;
  problem.batch = given.count_or("batch", 2);
  problem.heads = problem.kv_heads = given.count_or("heads", 8);
  problem.seq_q = problem.seq_kv = given.count_or("seq", 1024);
  options.repetitions = given.count_or("repetitions", 20);
  if (std::min({problem.batch, problem.heads, problem.seq_q, options.repetitions}) < 1)
    throw UsageError("--batch, --heads, --seq and --repetitions are whole numbers from 1 on");
  const std::string reason = kernels::ladder::refusal(options.levels.front(), problem);
  if (!reason.empty()) throw UsageError(reason);
  return options;
}

// Microseconds of each launch of each level: all levels in turn in every round, so that clocks and
// heat are the same for all; one round before is not counted.
std::vector<std::vector<double>> times_us(const Options& options,
                                          const kernels::ladder::CheckedRun& run) {
  kernels::EventPair events;
  std::vector<std::vector<double>> times(options.levels.size());
  for (int64_t round = -1; round < options.repetitions; ++round)
    for (size_t i = 0; i < times.size(); ++i) {
      const double time = events.time_us([&] { run.launch(options.levels[i]); });
      if (round >= 0) times[i].push_back(time);
    }
  return times;
}

int run_ladder(const Options& options) {
  const kernels::ladder::CheckedRun run(options.problem, seed);
  std::vector<double> errors;
  for (const int level : options.levels)
    errors.push_back(run.check(level, check_tiles, seed).output);
  const auto times = times_us(options, run);
  std::cout
      << "kernel,name,output_error,allowed_error,time_us,fastest_us,slowest_us,tflops,registers,"
         "spill_bytes,shared_bytes,ctas_per_sm\n";
  const Problem& problem = options.problem;
  const double flop = 4.0 * double(problem.batch * problem.heads) * double(problem.seq_q) *
                      double(problem.seq_kv) * double(problem.head_dim);
  bool correct = true;
  for (size_t i = 0; i < options.levels.size(); ++i) {
    const int level = options.levels[i];
    const double allowed = kernels::ladder::allowed_error(level, problem);
    correct = correct && errors[i] <= allowed;  // A NaN fails too.
    const auto [fastest, slowest] = std::minmax_element(times[i].begin(), times[i].end());
    const double time = experiments::median_of(times[i]);
    const auto made = kernels::ladder::footprint(level, problem.dtype);
    std::cout << experiments::csv_line(
        {"ladder-" + std::to_string(level),
         std::string(kernels::ladder::levels()[size_t(level - 1)].name), shortest(errors[i]),
         shortest(allowed), shortest(time), shortest(*fastest), shortest(*slowest),
         shortest(flop / time / 1e6), std::to_string(made.registers),
         std::to_string(made.spill_bytes), std::to_string(made.shared_bytes),
         std::to_string(made.ctas_per_sm)});
  }
  if (!correct) std::cerr << "ladder: a level differs from the reference by more than allowed\n";
  return correct ? experiments::exit_fine : experiments::exit_check_failed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words == std::vector<std::string>{"--help"}) {
      std::cout << usage;
      return experiments::exit_fine;
    }
    return run_ladder(options_of(words));
  } catch (const UsageError& error) {
    std::cerr << "ladder: " << error.what() << "\n" << usage;
    return experiments::exit_wrong_usage;
  } catch (const std::exception& error) {
    std::cerr << "ladder: " << error.what() << "\n";
    const auto* const of_cuda = dynamic_cast<const kernels::CudaError*>(&error);
    const bool no_device = of_cuda != nullptr && of_cuda->no_device();
    return no_device ? experiments::exit_no_device : experiments::exit_check_failed;
  }
}
