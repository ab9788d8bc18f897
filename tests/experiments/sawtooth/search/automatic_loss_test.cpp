// What the schedule of a call that names none loses against a search, by the timed model with the
// costs of kernels/mma on an H200.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "experiments/sawtooth/results/predicted_point.hpp"
#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "kernels/attention/automatic.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int shared_bytes = 1024;  // any that leaves a CTA an SM
constexpr kernels::DeviceLimits h200{90, 227 * 1024, 132, 228 * 1024, 1024};

double time_us(const Candidate& candidate) {
  return *predict_point(candidate.point, candidate.key_cells).prediction->time_us;
}

/// The automatic schedule in the place of the candidate's.
double automatic_time_us(Candidate candidate) {
  sim::Request& request = candidate.point.request;
  kernels::KernelVariant variant{};
  variant.family = "mma";
  variant.head_dim = static_cast<int>(request.problem.head_dim);
  variant.tiling = request.tiling;
  variant.shared_bytes = shared_bytes;
  variant.ctas_per_sm = 1;
  Schedule asked;
  asked.launch.index = asked.scan.index = asked.order.q_order.index = kernels::automatic_policy;
  asked.order.section = asked.workers = asked.kv_split = 0;
  request.schedule = kernels::complete_schedule(asked, request.problem, variant, h200, 1);
  return time_us(candidate);
}

TEST(AutomaticSchedule, LosesLittleAgainstASearchOnAGridOfShapes) {
  constexpr double most_in_the_median = 1.02, most = 1.05;
  Catalog catalog;
  const auto shapes = search_space(
      parse_configuration("gpu = h200\nhead-dim = 128\ntile-q = 128\ntile-kv = 64\n"
                          "heads = 1, 8\nseq = 4K, 12K\nmask = none, causal\n"
                          "launch = grid, static, dynamic\nscan = linear, reverse, sawtooth\n"
                          "q-order = ascending, descending\nsection = 1, all\n",
                          "grid.ini"),
      {}, "test", catalog);
  ASSERT_EQ(shapes.size(), 8u);
  std::vector<double> losses;
  for (const Shape& shape : shapes) {
    double best = 1e300;
    std::set<std::string> seen;
    for (const Candidate& candidate : shape.candidates)
      if (seen.insert(visits_key(candidate)).second) best = std::min(best, time_us(candidate));
    losses.push_back(automatic_time_us(shape.candidates.front()) / best);
    EXPECT_LE(losses.back(), most) << shape.name;
    RecordProperty(shape.name, std::to_string(losses.back()));
  }
  EXPECT_LE(median_of(losses), most_in_the_median);
}

}  // namespace
}  // namespace sawtooth::experiments
