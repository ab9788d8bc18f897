#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/learn/learn.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"

namespace sawtooth::experiments {
namespace {

// Scatter of equal launches, as a share: of their times, of their DRAM reads, and of these where K
// and V are read again and again, for it then hangs on how far CTAs drift apart.
constexpr double scatter_of_time = 0.02;
constexpr double scatter_of_reads = 0.03;
constexpr double scatter_of_reads_again = 0.3;
constexpr double most_of_one = 5;  // scatters: no launch alone outweighs all others
// Descriptions whose scores differ by less, a launch, fit alike.
constexpr double alike = 0.1;

Point point_of(const KernelLaunches& rows, const LearnProblem& problem,
               const Description& description, Catalog& catalog) {
  Settings settings;
  const auto set = [&](std::string_view key, const std::string& text) {
    assign(settings, std::string(key), text, {});
  };
  set("timing", "timed");
  set("l2", "halves");
  set("kernel-costs", "mma");  // no kernel of kernels/mma, whatever its tiles
  set("gpu", rows.gpu);
  set("dtype", rows.dtype);
  set("head-dim", std::to_string(rows.head_dim));
  set("seq", std::to_string(problem.seq));
  set("heads", std::to_string(problem.heads));
  set("kv-heads", std::to_string(problem.kv_heads));
  set("mask", problem.mask);
  for (const auto& [key, value] : description.keys())
    set(key, key == "scan" && !problem.scan.empty() ? problem.scan : value);
  return resolve(settings, catalog);
}

// The logarithm of a ratio, in scatters.
double bounded(double off, double scatter) {
  return std::min(most_of_one, std::abs(off) / scatter);
}

class Learning {
 public:
  Learning(const KernelLaunches& rows, const std::vector<KernelLaunch>& taught, Catalog& catalog,
           size_t threads)
      : rows_(rows), taught_(taught), catalog_(catalog), threads_(threads) {
    for (const KernelLaunch& launch : taught_)
      if (!is_long(launch)) short_.push_back(launch);
  }

  LearntKernel run(const Description& known) {
    const bool masked = std::ranges::any_of(
        taught_, [](const KernelLaunch& launch) { return launch.problem.mask != "none"; });
    const bool several_heads = std::ranges::any_of(
        taught_, [](const KernelLaunch& launch) { return launch.problem.heads > 1; });
    // A first look with the costs of a plain order, whose scale of time does not count; then the
    // best of all with costs of their own. Latencies are exposed as durations say, or hidden.
    const LearntKernel plain = fitted(known);
    std::vector<LearntKernel> tried;
    for (const Description& order : possible_orders(known, masked, several_heads)) {
      tried.push_back(plain);
      tried.back().description = order;
      judge(tried.back(), short_);
    }
    keep_best(tried, 3 * finalists);
    for (LearntKernel& one : tried) take_best(one, short_, &CtaDrift::exposed, {0.0});
    keep_best(tried, finalists);
    for (LearntKernel& one : tried) {
      one.description.drift.exposed.reset();
      one = fitted(one.description);
      judge(one, taught_);
      take_best(one, taught_, &CtaDrift::exposed, {0.0});
    }
    keep_best(tried, finalists);
    search_drift(tried.front());
    for (size_t i = 1; i < tried.size(); ++i) {
      tried[i].description.drift = tried[0].description.drift;
      judge(tried[i], taught_);
    }
    keep_best(tried, finalists);
    LearntKernel best = fitted(tried.front().description);
    if (tried.size() > 1 && tried[1].score - tried[0].score < alike * double(taught_.size()))
      best.rival = tried[1].description;
    best.power_slowness = power_slowness_of(best);
    return best;
  }

 private:
  static constexpr size_t finalists = 2;
  // A score must fall by the first to be worth a number of its own; where one is above the least by
  // the second, values beyond it are not tried.
  static constexpr double least_gain = 0.3, least_loss = 0.5;

  static void keep_best(std::vector<LearntKernel>& kernels, size_t count) {
    std::ranges::stable_sort(kernels, {}, &LearntKernel::score);
    if (kernels.size() > count) kernels.resize(count);
  }

  // The longest launch of a mask with enough others tells how far the clock falls, and that alone.
  bool is_long(const KernelLaunch& launch) {
    const sim::Gpu& gpu = catalog_.gpu(Assignment{{rows_.gpu}, {}}).profile;
    constexpr double us_a_ms = 1000;
    if (gpu.power_delay_ms <= 0 || launch.time_us < gpu.power_delay_ms * us_a_ms) return false;
    constexpr int64_t enough = 3;
    return std::ranges::count_if(taught_, [&](const KernelLaunch& other) {
             return other.problem.mask == launch.problem.mask && other.time_us < launch.time_us;
           }) >= enough;
  }

  LearntKernel fitted(const Description& description) {
    LearntKernel learnt;
    learnt.description = description;
    std::vector<TaughtRow> rows;
    for (const KernelLaunch& launch : short_)
      rows.push_back({.point = point_of(rows_, launch.problem, description, catalog_),
                      .time_ns = launch.time_us * ns_a_us,
                      .line = launch.line});
    learnt.costs = fit_costs(rows, threads_, description.drift);
    return learnt;
  }

  /// Long launches judge by their reads alone. Steps and items stay as they are while drifts are
  /// tried: the scale of time does not count.
  void judge(LearntKernel& learnt, const std::vector<KernelLaunch>& launches) {
    std::map<std::string, std::vector<double>> times;
    const auto errors = errors_of(rows_, launches, learnt, catalog_, threads_);
    learnt.score = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      const double again = 1 - 1 / std::max(1.0, errors[i].over_compulsory);
      learnt.score += bounded(std::log1p(errors[i].dram_reads),
                              scatter_of_reads + scatter_of_reads_again * again);
      if (!is_long(launches[i]))
        times[launches[i].problem.mask].push_back(std::log1p(errors[i].time));
    }
    for (const auto& [mask, logs] : times) {
      double mean = 0;
      for (const double one : logs) mean += one / double(logs.size());
      for (const double one : logs) learnt.score += bounded(one - mean, scatter_of_time);
    }
  }

  /// Values ascend, and behind one that is worse than those before none is better.
  template <class Member>
  void take_best(LearntKernel& best, const std::vector<KernelLaunch>& launches,
                 Member CtaDrift::*member, std::initializer_list<double> values) {
    LearntKernel one = best;
    const double usual = best.score - least_gain;
    double least = std::numeric_limits<double>::max();
    for (const double value : values) {
      one.description.drift.*member = value;
      judge(one, launches);
      if (one.score < std::min(usual, best.score)) best = one;
      if (one.score > least + least_loss) break;
      least = std::min(least, one.score);
    }
  }

  /// By what all launches read, one number after another.
  void search_drift(LearntKernel& best) {
    const auto take = [&](auto CtaDrift::*member, std::initializer_list<double> values) {
      take_best(best, taught_, member, values);
    };
    take(&CtaDrift::exposed, {0.1, 0.2, 0.4, 0.8, 1.6});
    const double exposed =
        best.description.drift.exposed.value_or(best.costs.begin()->second.exposed.value);
    if (exposed > 0) take(&CtaDrift::exposed, {exposed * std::sqrt(0.5), exposed * std::sqrt(2)});
    if (best.description.ctas_per_sm > 1) {
      take(&CtaDrift::age_bias, {0, 0.05, 0.2, 0.4});
      take(&CtaDrift::keep_step, {true});
    }
    take(&CtaDrift::sm_spread, {0.003, 0.006, 0.009, 0.012, 0.02});
    take(&CtaDrift::l2_taken, {1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8});
  }

  double power_slowness_of(LearntKernel learnt) {
    const auto longest = std::ranges::max_element(taught_, {}, &KernelLaunch::time_us);
    if (!is_long(*longest)) return 0;
    const auto time = [&](double slowness) {
      learnt.power_slowness = slowness;
      return errors_of(rows_, {*longest}, learnt, catalog_, 1).front().predicted_time_us;
    };
    constexpr double tried = 0.1, least_fallen = 0.2;
    const double full = time(0), fallen = (time(tried) / full - 1) / tried;
    return fallen < least_fallen ? 0 : std::max(0.0, (longest->time_us / full - 1) / fallen);
  }

  const KernelLaunches& rows_;
  const std::vector<KernelLaunch>& taught_;
  std::vector<KernelLaunch> short_;  // those of `taught_` whose times tell costs
  Catalog& catalog_;
  size_t threads_;
};

}  // namespace

LearntKernel learn_kernel(const KernelLaunches& rows, const std::vector<KernelLaunch>& taught,
                          const Description& known, Catalog& catalog, size_t threads) {
  return Learning(rows, taught, catalog, threads).run(known);
}

std::vector<LaunchError> errors_of(const KernelLaunches& rows,
                                   const std::vector<KernelLaunch>& launches,
                                   const LearntKernel& learnt, Catalog& catalog, size_t threads) {
  std::vector<Point> points;
  for (const KernelLaunch& launch : launches) {
    Point& point = points.emplace_back(point_of(rows, launch.problem, learnt.description, catalog));
    const auto own = learnt.costs.find(launch.problem.mask);
    const FittedCosts& fitted = (own == learnt.costs.end() ? learnt.costs.begin() : own)->second;
    point.request.kernel = drifting(fitted, learnt.description.drift, point);
    point.request.kernel.power_slowness = learnt.power_slowness;
  }
  std::vector<LaunchError> errors;
  const auto take = [&](size_t i, const sim::Prediction& made) {
    const double time_us = made.time_us.value_or(0), real = launches[i].dram_read_sectors;
    const auto reads = double(made.total.dram_read_sectors.value_or(0));
    errors.push_back({time_us, reads, time_us / launches[i].time_us - 1, reads / real - 1,
                      real / double(made.total.cold_read_sectors.value_or(1))});
  };
  run_in_order(
      points.size(), threads,
      [&](size_t i) { return predict(points[i].request, points[i].gpu, *points[i].keys.l2); }, take,
      [] {});
  return errors;
}

std::string system_text(const KernelLaunches& rows, const LearntKernel& learnt, size_t taught) {
  std::string text =
      "# Written by `sawtooth learn` from launches of " + one_line(rows.kernel) + "\n";
  for (const auto& [key, value] : learnt.description.keys()) text += key + " = " + value + "\n";
  text += "lse = off\n\n[system]\ndescription = a kernel that was learnt from " +
          std::to_string(taught) + " launches on " + rows.gpu + ", head dim " +
          std::to_string(rows.head_dim) + ", " + rows.dtype + "\n";
  for (const auto& [mask, fitted] : learnt.costs) {
    const std::string conditions =
        " gpu=" + rows.gpu + " head-dim=" + std::to_string(rows.head_dim);
    text += "\n[costs" + conditions + (learnt.costs.size() > 1 ? " mask=" + mask : "") + "]\n";
    FittedCosts costs = fitted;
    costs.cost.power_slowness = learnt.power_slowness;
    for (const Parameter& one : parameters_of(costs, "learnt"))
      text += one.key + " = " + one.value + "  # " + one.note + "\n";
  }
  return text;
}

}  // namespace sawtooth::experiments
