// The automatic schedule: what a call names is kept, and what it leaves open is near the fastest of
// the recorded races that the table was not made from.
#include "kernels/attention/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/attention/choice.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::kernels {
namespace {

constexpr DeviceLimits h200{90, 227 * 1024, 132, 228 * 1024, 1024};

AttentionForward square(int64_t batch, int64_t heads, int64_t seq, int64_t head_dim,
                        MaskKind mask) {
  AttentionForward call;
  call.problem = {.batch = batch,
                  .heads = heads,
                  .kv_heads = heads,
                  .seq_q = seq,
                  .seq_kv = seq,
                  .head_dim = head_dim,
                  .mask = {mask, 0}};
  return call;
}

const KernelVariant& chosen_on_h200(const AttentionForward& call) {
  const KernelVariant* chosen = nullptr;
  EXPECT_EQ(choose_variant(call, h200, chosen).message, "");
  return *chosen;
}

Schedule completed(const AttentionForward& call) {
  return complete_schedule(call.schedule, call.problem, chosen_on_h200(call), h200, 0);
}

TEST(AutomaticSchedule, LeavesNothingAutomaticAndSuitsItsKernel) {
  for (const KernelVariant& variant : kernel_variants())
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
      for (const int64_t seq : {1, 512, 4096, 131072}) {
        AttentionForward call = square(2, 4, seq, variant.head_dim, mask);
        call.problem.dtype = variant.dtype;
        call.problem.head_dim_v = variant.head_dim_v;
        call.schedule = complete_schedule(call.schedule, call.problem, variant, h200, 0);
        EXPECT_GE(call.schedule.launch.index, 0);
        EXPECT_GE(call.schedule.scan.index, 0);
        EXPECT_GE(call.schedule.order.q_order.index, 0);
        EXPECT_GE(call.schedule.order.section, 1);
        EXPECT_GE(call.schedule.workers, 1);
        EXPECT_EQ(call.schedule.kv_split, 1);
        EXPECT_EQ(suits(call, variant).message, "") << variant.family;
      }
}

TEST(AutomaticSchedule, KeepsWhatTheCallNames) {
  AttentionForward call = square(1, 4, 4096, 64, MaskKind::causal);
  call.schedule = {.order = {.section = 3, .q_order = q_order_id<FoldQ>},
                   .launch = launch_id<StaticLaunch>,
                   .scan = scan_id<AttachScan>,
                   .workers = 7,
                   .kv_split = 2};
  const Schedule made = completed(call);
  EXPECT_EQ(made.launch, call.schedule.launch);
  EXPECT_EQ(made.scan, call.schedule.scan);
  EXPECT_EQ(made.order.q_order, call.schedule.order.q_order);
  EXPECT_EQ(made.order.section, 3);
  EXPECT_EQ(made.workers, 7);
  EXPECT_EQ(made.kv_split, 2);
}

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& path) {
  std::ifstream file(path);
  const auto cells = [](const std::string& line) {
    std::vector<std::string> found;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) found.push_back(cell);
    return found;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    Row row;
    const std::vector<std::string> values = cells(line);
    for (size_t i = 0; i < std::min(names.size(), values.size()); ++i) row[names[i]] = values[i];
    rows.push_back(row);
  }
  return rows;
}

/// How much longer `choice` takes than the fastest of `times`, by choice.
double slowness_of(const std::map<std::string, double>& times, const std::string& choice) {
  double best = 1e30;
  for (const auto& [other, time_us] : times) best = std::min(best, time_us);
  return times.contains(choice) ? times.at(choice) / best : INFINITY;
}

struct HopperSchedule : testing::Test {
  void SetUp() override {
    if (find_variant(128, ElementType::bf16, {128, 176}, families::hopper) == nullptr)
      GTEST_SKIP() << "this build has no Hopper kernels";
  }
};

std::string call_name(const AttentionForward& call) {
  const bool is_short = chosen_on_h200(call).family == std::string(families::hopper_short);
  const LaunchId launch = completed(call).launch;
  const std::string launch_name = launch == launch_id<DynamicLaunch>
                                      ? "tickets"
                                      : std::string(Launches::info()[size_t(launch.index)].name);
  return (is_short ? "short; " : "long; ") + launch_name;
}

/// The greatest ratio, by choice, of cuDNN's time over its own.
template <class Ratios>
double greatest(const Ratios& ratios) {
  return std::ranges::max_element(ratios, {}, &Ratios::value_type::second)->second;
}

// Up to 1K rows an H100 waits for its DRAM where an H200 does not.
TEST_F(HopperSchedule, IsNearTheFastestKernelAndLaunchOfTheRaceOfShortSequencesOnAnH100) {
  std::map<std::tuple<int64_t, int64_t, std::string>, std::map<std::string, double>> shapes;
  for (Row& row : rows_of(SAWTOOTH_RACE_FOLDER "/../../h100/race/schedules.csv"))
    if (row["run"] == "short_calls")
      shapes[{std::stoll(row["seq"]), std::stoll(row["head_dim"]), row["mask"]}][row["call"]] =
          std::stod(row["ratio"]);
  EXPECT_EQ(shapes.size(), 20u);
  for (const auto& [shape, ratios] : shapes) {
    const auto& [seq, head_dim, mask] = shape;
    const std::string choice = call_name(
        square(16384 / seq, 16, seq, head_dim, mask == "none" ? MaskKind::none : MaskKind::causal));
    ASSERT_TRUE(ratios.contains(choice)) << choice;
    EXPECT_GE(ratios.at(choice), (seq < 2048 ? 0.95 : 0.99) * greatest(ratios))
        << seq << " rows, head dim " << head_dim << ", " << mask << ": " << choice;
  }
}

// 32 MiB hold K and V of 8 heads of 8K keys at 128 columns, and of 16 of 2K at 192.
TEST_F(HopperSchedule, DealsHeadsToSectionsOfNearlyTheSameSize) {
  EXPECT_EQ(completed(square(1, 40, 2048, 192, MaskKind::causal)).order.section, 14);
  EXPECT_EQ(completed(square(1, 33, 8192, 128, MaskKind::causal)).order.section, 7);
  EXPECT_EQ(completed(square(3, 8, 8192, 128, MaskKind::causal)).order.section, 8);
  AttentionForward grouped = square(1, 40, 16384, 128, MaskKind::causal);
  grouped.problem.kv_heads = 5;  // 8 MiB each: two sections, of whole groups
  EXPECT_EQ(completed(grouped).order.section, 24);
}

TEST_F(HopperSchedule, DrawsNoTicketsWhereEachCtaHasOneItem) {
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    EXPECT_EQ(completed(square(1, 32, 512, 64, mask)).launch, launch_id<StaticLaunch>);
    EXPECT_EQ(completed(square(16, 32, 512, 64, mask)).launch, launch_id<DynamicLaunch>);
  }
}

// The calls are named after the bytes of K and V of their sections.
TEST_F(HopperSchedule, IsNearTheFastestSectionUnderACausalMaskOnAnH100) {
  std::map<std::tuple<int64_t, int64_t>, std::map<int64_t, double>> shapes;  // ratio by heads
  for (Row& row : rows_of(SAWTOOTH_RACE_FOLDER "/../../h100/race/schedules.csv")) {
    if (row["run"] != "causal_sections") continue;
    const size_t unit = row["call"].find(" MiB;");
    const int64_t seq = std::stoll(row["seq"]), head_dim = std::stoll(row["head_dim"]);
    const int64_t heads = (std::stoll(row["call"].substr(0, unit)) << 20) / (4 * seq * head_dim);
    shapes[{seq, head_dim}][heads] = std::stod(row["ratio"]);
  }
  EXPECT_EQ(shapes.size(), 15u);
  for (const auto& [shape, ratios] : shapes) {
    const auto& [seq, head_dim] = shape;
    const int64_t section =
        completed(square(16384 / seq, 16, seq, head_dim, MaskKind::causal)).order.section;
    ASSERT_TRUE(ratios.contains(section)) << section;
    EXPECT_GE(ratios.at(section), 0.99 * greatest(ratios)) << seq << " rows, head dim " << head_dim;
  }
}

// The table is from the run "race"; the others have the same contenders, and one head. At head dim
// 64 the first of them timed a kernel before its items became cheaper.
TEST_F(HopperSchedule, IsAtMost5PercentSlowerThanTheFastestOfOtherRunsOnAnH200) {
  using Shape = std::tuple<int64_t, int64_t, int64_t, int64_t, std::string>;
  int judged = 0;
  for (const char* name : {"race_with_prefetch", "one_head"}) {
    std::map<Shape, std::map<std::string, double>> times;
    for (Row& row : rows_of(SAWTOOTH_RACE_FOLDER "/schedules.csv")) {
      if (row["run"] != name || (row["head_dim"] != "128" && row["heads"] != "1")) continue;
      times[{std::stoll(row["batch"]), std::stoll(row["heads"]), std::stoll(row["seq_q"]),
             std::stoll(row["head_dim"]), row["mask"]}]
           [row["tile_q"] + "x" + row["tile_kv"] + " " + row["launch"] + " " + row["scan"] + " " +
            row["q_order"] + " " + row["section"]] = std::stod(row["time_us"]);
    }
    for (const auto& [shape, contenders] : times) {
      const auto& [batch, heads, seq, head_dim, mask] = shape;
      AttentionForward call =
          square(batch, heads, seq, head_dim, mask == "none" ? MaskKind::none : MaskKind::causal);
      call.family = families::hopper;
      const Tiling tiling = chosen_on_h200(call).tiling;
      const Schedule made = completed(call);
      const std::string choice =
          std::to_string(tiling.q_rows) + "x" + std::to_string(tiling.kv_rows) + " " +
          std::string(Launches::info()[size_t(made.launch.index)].name) + " " +
          std::string(Scans::info()[size_t(made.scan.index)].name) + " " +
          std::string(QOrders::info()[size_t(made.order.q_order.index)].name) + " " +
          std::to_string(made.order.section);
      if (!contenders.contains(choice)) continue;  // not raced
      ++judged;
      EXPECT_LE(slowness_of(contenders, choice), 1.05)
          << name << " " << batch << "x" << heads << "x" << seq << " " << head_dim << " " << choice;
    }
  }
  EXPECT_GE(judged, 15);
}

/// The choice among what a run timed of one sequence's `shapes` heads: at most so much slower than
/// the fastest, at any shape and in the geometric mean.
template <class Name>
void is_near_the_fastest(const char* run, size_t count, MaskKind mask, double most, double mean,
                         Name name) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::map<std::string, double>> shapes;
  for (Row& row : rows_of(SAWTOOTH_RACE_FOLDER "/schedules.csv"))
    if (row["run"] == run)
      shapes[{std::stoll(row["heads"]), std::stoll(row["seq_q"]), std::stoll(row["head_dim"])}]
            [name(row["kernel"], row["tile_q"] + "x" + row["tile_kv"], row["launch"])] =
                std::stod(row["time_us"]);
  EXPECT_EQ(shapes.size(), count);
  double product = 1;
  for (const auto& [shape, times] : shapes) {
    const auto& [heads, seq, head_dim] = shape;
    const AttentionForward call = square(1, heads, seq, head_dim, mask);
    const KernelVariant& variant = chosen_on_h200(call);
    const std::string choice =
        name(variant.family,
             std::to_string(variant.tiling.q_rows) + "x" + std::to_string(variant.tiling.kv_rows),
             std::string(Launches::info()[size_t(completed(call).launch.index)].name));
    EXPECT_LE(slowness_of(times, choice), most)
        << heads << "x" << seq << " " << head_dim << " " << choice;
    product *= slowness_of(times, choice);
  }
  EXPECT_LE(std::pow(product, 1.0 / double(shapes.size())), mean);
}

TEST_F(HopperSchedule, CutsTheLastWaveWhereThatIsFasterOnAnH200) {
  is_near_the_fastest("last_wave", 66, MaskKind::none, 1.035, 1.005,
                      [](auto, auto, std::string launch) { return launch; });
}

// The rules were set on the rows of head dim 64, and on those of another card at the others.
TEST_F(HopperSchedule, TakesTileAndFixedSharesOfFewWavesUnderACausalMaskOnAnH200) {
  is_near_the_fastest("few_waves", 113, MaskKind::causal, 1.26, 1.01,
                      [](std::string family, std::string tile, std::string launch) {
                        return family + tile + launch;
                      });
}

/// Whole backward calls of kernels/hopper of one file: by shape what was measured of each value of
/// `column`.
using Shape = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, std::string>;
std::map<Shape, std::map<std::string, double>> backward_shapes(const std::string& file,
                                                               const std::string& column,
                                                               const std::string& measured) {
  std::map<Shape, std::map<std::string, double>> shapes;
  for (Row& row : rows_of(SAWTOOTH_RACE_FOLDER "/../backward/" + file)) {
    const auto of = [&](const char* name) { return std::stoll(row[name]); };
    const Shape shape{of("batch"), of("heads"),    of("kv_heads"),
                      of("seq"),   of("head_dim"), row.contains("mask") ? row["mask"] : "causal"};
    shapes[shape][row[column]] = std::stod(row[measured]);
  }
  return shapes;
}

Schedule backward_schedule(const Shape& shape, int64_t kv_split, Dq dq = Dq::atomic) {
  const auto& [batch, heads, kv_heads, seq, head_dim, mask] = shape;
  AttentionForward call =
      square(batch, heads, seq, head_dim, mask == "none" ? MaskKind::none : MaskKind::causal);
  call.problem.kv_heads = kv_heads;
  call.problem.pass = Pass::backward;
  call.schedule.kv_split = kv_split;
  call.schedule.dq = dq;
  const KernelVariant* variant =
      find_variant(head_dim, ElementType::bf16, {0, 0}, families::hopper, Pass::backward);
  return complete_schedule(call.schedule, call.problem, *variant, h200, 0);
}

TEST_F(HopperSchedule, FillsWavesOfTheBackwardPassOnAnH200) {
  const auto shapes = backward_shapes("sections.csv", "section", "time_us");
  EXPECT_EQ(shapes.size(), 20u);
  for (const auto& [shape, times] : shapes) {
    const int64_t section = backward_schedule(shape, 1).order.section;
    EXPECT_LE(slowness_of(times, std::to_string(section)), 1.03)
        << std::get<1>(shape) << " " << std::get<3>(shape);
  }
}

// The ratio is cuDNN's time over that of the call.
TEST_F(HopperSchedule, PartsGroupsOfTheBackwardPassThatLeaveSmsIdle) {
  const auto shapes = backward_shapes("parts.csv", "kv_split", "ratio");
  EXPECT_EQ(shapes.size(), 34u);
  for (const auto& [shape, ratios] : shapes) {
    const std::string parts = std::to_string(backward_schedule(shape, 0).kv_split);
    ASSERT_TRUE(ratios.contains(parts)) << parts;
    EXPECT_GE(ratios.at(parts), 0.98) << parts << " of " << std::get<1>(shape);
    for (const auto& [other, ratio] : ratios) EXPECT_GE(ratios.at(parts), 0.93 * ratio) << other;
  }
}

// Rows are of three cards; the last one of a schedule counts.
TEST_F(HopperSchedule, OrdersAdditionsOverSectionsAndPartsThatAreNearTheFastest) {
  const auto shapes = backward_shapes("ordered_times.csv", "schedule", "ratio");
  EXPECT_EQ(shapes.size(), 23u);
  for (const auto& [shape, ratios] : shapes) {
    const Schedule chosen = backward_schedule(shape, 0, Dq::ordered);
    EXPECT_EQ(chosen.launch, launch_id<DynamicLaunch>);
    const std::string schedule = "dynamic section=" + std::to_string(chosen.order.section) +
                                 " kv-split=" + std::to_string(chosen.kv_split);
    ASSERT_TRUE(ratios.contains(schedule)) << schedule << " " << std::get<3>(shape);
    for (const auto& [other, ratio] : ratios) {
      if (other != "atomic") {
        EXPECT_GE(ratios.at(schedule), 0.96 * ratio) << other;
      }
    }
  }
}

}  // namespace
}  // namespace sawtooth::kernels
