// Launches made from known costs, which are found again; and the shipped costs of all kernels.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>

#include <gmock/gmock.h>

#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"
#include "tests/support/recorded_layout.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using ::testing::HasSubstr;

constexpr int64_t sms = 132;
constexpr double step_ns = 2000;
constexpr double item_ns = 3300;  // item-end-ns of the shipped costs
using Pace = std::function<double(int64_t cta)>;
const KernelShape narrow{64, {128, 128}};

sim::Gpu gpu() {
  sim::Gpu gpu;
  gpu.sms = sms;
  gpu.l2_bytes = 60 << 20;
  gpu.layout = tests::recorded_layout();
  return gpu;
}

/// Each SM has an older and a younger CTA: 0 to 7 share with 80 to 87, later ones c with c + 132,
/// or with c + 124 from CTA 88 on.
std::vector<std::pair<int64_t, int64_t>> sharers() {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t cta = 0; cta < 140; ++cta)
    if (cta < 80 || cta >= 88)
      pairs.emplace_back(cta, cta < 8 ? cta + 80 : cta < 80 ? cta + 132 : cta + 124);
  return pairs;
}
bool is_younger(int64_t cta) {
  return (cta >= 80 && cta < 88) || cta >= 140;
}
double usual(int64_t) {
  return step_ns;
}

/// `steps(cta, k)` and `pace(cta, k)` of the k-th item of a CTA.
RecordedLaunch made(int64_t ctas, int64_t items,
                    const std::function<int64_t(int64_t, int64_t)>& steps,
                    const std::function<double(int64_t, int64_t)>& pace, const KernelShape& kernel,
                    double beyond_ns = item_ns) {
  RecordedLaunch launch{{.kernel = kernel, .workers = ctas}, {}};
  for (int64_t cta = 0; cta < ctas; ++cta) {
    auto& own = launch.ctas.emplace_back();
    double start_ns = 0;
    for (int64_t k = 0; k < items; ++k) {
      own.push_back({std::llround(start_ns), cta + k * ctas, steps(cta, k)});
      start_ns += double(steps(cta, k)) * pace(cta, k) + beyond_ns;
    }
  }
  return launch;
}

/// Four items of 1000 steps a CTA.
RecordedLaunch launch(int64_t ctas, const Pace& pace, const KernelShape& kernel = narrow,
                      int64_t prefetch = 0) {
  RecordedLaunch launch = made(
      ctas, 4, [](auto, auto) { return 1000; }, [&](int64_t cta, auto) { return pace(cta); },
      kernel);
  launch.point.prefetch = prefetch;
  return launch;
}

/// Items of 400 to 800 steps, so that lengths tell the step from what an item takes beyond.
RecordedLaunch of_many_lengths(const KernelShape& kernel) {
  RecordedLaunch launch = made(
      sms, 5, [](int64_t cta, int64_t k) { return 800 - 100 * k - cta % 50; },
      [](auto, auto) { return step_ns; }, kernel);
  launch.point.mask = "causal";
  return launch;
}

/// What every kernel costs, of which costs of a family need these.
sim::KernelCost known_costs() {
  sim::KernelCost known;
  known.tensor_tflops = 480;
  known.exp_tera_per_s = 6;
  known.fixed_ns = 35;
  known.item_begin_ns = 800;
  known.item_end_ns = item_ns;
  return known;
}

std::string text(const std::vector<ProfileSection>& sections, std::string_view name,
                 std::string_view key) {
  for (const ProfileSection& section : sections)
    for (const Parameter& parameter : section.parameters)
      if (section.name == name && parameter.key == key) return parameter.value;
  return {};
}

class Found {
 public:
  explicit Found(const std::vector<RecordedLaunch>& records, const sim::Gpu& on = gpu()) {
    std::vector<LaunchTimes> launches;
    for (const RecordedLaunch& record : records) launches.push_back(launch_times(record, on));
    sections_ = item_costs(launches, on, known_costs());
  }
  std::string word(std::string_view name, std::string_view key) const {
    return text(sections_, name, key);
  }
  double operator()(std::string_view name, std::string_view key) const {
    const std::string value = word(name, key);
    EXPECT_FALSE(value.empty()) << name << ' ' << key;
    return value.empty() ? NAN : std::stod(value);
  }

 private:
  std::vector<ProfileSection> sections_;
};

TEST(ItemCosts, TheFirstSmOfATpcIsSlowerThanItsMean) {
  const Found found({launch(sms, [](int64_t cta) {
    return step_ns * (1 + (cta >= 32 && cta < 48 ? 0.002 : 0) + (cta % 2 == 0 ? 1 : -1) * 0.00025);
  })});
  EXPECT_NEAR(found("d64-128x128", "tpc-spread"), 0.00025, 2e-6);
}

// CTAs 0, 33, 66 and 99 of 132 have none of 128 lines.
TEST(ItemCosts, WhatPrefetchCostsCtasWithLinesAndWithout) {
  const KernelShape wide{128, {128, 64}};
  const auto ahead = [](int64_t cta) { return step_ns + 50 + (cta % 33 == 0 ? 0 : 90); };
  const Found found({launch(sms, usual, wide), launch(sms, ahead, wide, 2)});
  EXPECT_NEAR(found("every", "prefetch-step-ns"), 50, 1e-9);
  EXPECT_NEAR(found("every", "prefetch-lines-ns"), 90, 1e-9);
}

// Half of a step's pipes are exponentials here: 1000 of 128 x 128 in a step of 2000, so a CTA that
// is faster by 5 % has a bias of a tenth of them.
TEST(ItemCosts, OfTwoCtasTheOlderOneIsFound) {
  const auto biased = [](int64_t cta) { return 2 * step_ns * (is_younger(cta) ? 1.05 : 0.95); };
  const Found found({launch(sms, usual),
                     launch(sms, [](int64_t) { return step_ns - 500; }, {128, {128, 64}}),
                     launch(2 * sms, biased)});
  EXPECT_NEAR(found("every", "age-bias"), 0.1, 1e-3);
}

TEST(ItemCosts, WhatPrefetchCostsTwoCtasOfAnSm) {
  std::vector<int64_t> partner(2 * sms);
  for (const auto& [older, younger] : sharers()) {
    partner[size_t(older)] = younger;
    partner[size_t(younger)] = older;
  }
  const auto has_lines = [](int64_t cta) {  // 128 lines for 264 CTAs
    return cta * 128 / 264 < (cta + 1) * 128 / 264;
  };
  const auto pace = [&](int64_t cta) {
    const int own = has_lines(cta), other = has_lines(partner[size_t(cta)]);
    return (step_ns + 40 + 30 * (own + other)) * (1 + 0.05 * (own - other));
  };
  const Found found({launch(sms, usual), launch(2 * sms, usual), launch(2 * sms, pace, narrow, 2)});
  EXPECT_NEAR(found("every", "prefetch-step-shared-ns"), 40, 0.1);
  EXPECT_NEAR(found("every", "prefetch-lines-shared-ns"), 60, 0.1);
  EXPECT_NEAR(found("every", "prefetch-lines-bias"), 0.05, 1e-3);
}

TEST(ItemCosts, PartsOfAStepAreThoseThatThePacesWereMadeFrom) {
  constexpr double tensor_ns = 1000, exp_ns = 400;  // of 128 x 128 x 64 and of 128 x 128
  struct Made {
    KernelShape kernel;
    double products, exponentials, fixed_ns, exposed_ns;
  };
  const Made kernels[] = {{{64, {128, 128}}, 1, 1, 10, 450},
                          {{64, {128, 64}}, 0.5, 0.5, 60, 400},
                          {{128, {128, 64}}, 1, 0.5, 35, 425},
                          {{128, {128, 128}}, 2, 1, 35, 600}};
  std::vector<RecordedLaunch> launches;
  for (const Made& made : kernels) {
    const double pipe_ns = made.products * tensor_ns + made.exponentials * exp_ns + made.fixed_ns;
    launches.push_back(launch(
        sms, [&](int64_t) { return pipe_ns + made.exposed_ns; }, made.kernel));
    if (made.products < 2)
      launches.push_back(launch(
          2 * sms, [&](int64_t) { return 2 * pipe_ns; }, made.kernel));
  }
  const Found found(launches);
  EXPECT_NEAR(found("every", "tensor-tflops"), 128 * 128 * 64 * 4 * 132 / 1e6, 0.051);
  EXPECT_NEAR(found("every", "exp-tera-per-s"), 128 * 128 * 132 / 4e5, 0.0051);
  for (const Made& made : kernels) {
    const bool usual_kernel = made.exponentials < 1 && made.products == 1;
    const std::string name =
        usual_kernel ? "every" : kernel_section(made.kernel.head_dim, made.kernel.tiling);
    if (made.products < 2) {
      EXPECT_NEAR(found(name, "fixed-ns"), made.fixed_ns, 1e-9) << name;
    }
    EXPECT_NEAR(found(name, "exposed-ns"), made.exposed_ns, 1e-9) << name;
  }
}

TEST(ItemCosts, OfAFamilyAreThoseThatTheRecordsWereMadeFrom) {
  const KernelShape kernel{64, {192, 128}, "hopper"};
  sim::Gpu h200 = gpu();
  h200.l2_halves = 2;
  h200.latency_dram_ns = 360;
  h200.tile_gb_per_s = 40.96;  // Q and K in a microsecond
  const auto slower = [](int64_t cta) { return step_ns + 25 + (cta % 2 == 0 ? 1 : -1) * 0.5; };
  RecordedLaunch sawtooth = launch(
      sms, [&](int64_t cta) { return slower(cta) + 15; }, kernel, 2);
  sawtooth.point.scan = "sawtooth";
  const Found found({launch(sms, usual, kernel), launch(sms, slower, kernel, 2), sawtooth,
                     of_many_lengths(kernel)},
                    h200);
  EXPECT_EQ(found("every", "item-begin-ns"), 0);
  EXPECT_NEAR(found("d64-192x128", "item-end-ns"), item_ns - 1360, 1);
  EXPECT_NEAR(found("d64-192x128", "step-ns"), step_ns, 0.06);
  EXPECT_NEAR(found("d64-192x128", "prefetch-step-ns"), 25 + 15 / 2.0, 0.6);
  EXPECT_NEAR(found("d64-192x128", "tpc-spread"), 0, 1e-6);
}

// Q and a tile of K and V, 192 rows of 256 bytes, take a microsecond through one SM's part of L2.
TEST(ItemCosts, WithoutLeadsAnItemOfFp32WaitsForItsQAndForBothTiles) {
  const KernelShape kernel{64, {64, 64}, "mma-fp32"};
  sim::Gpu h200 = gpu();
  h200.latency_dram_ns = 360;
  h200.l2_gb_per_s = 49.152 * double(sms);
  std::vector<RecordedLaunch> launches{launch(sms, usual, kernel), of_many_lengths(kernel)};
  for (RecordedLaunch& one : launches) one.point.dtype = "fp32";
  const Found found(launches, h200);
  EXPECT_EQ(found.word("every", "lead-k-steps"), "");
  EXPECT_NEAR(found("d64-64x64", "item-end-ns"), item_ns - 1360 - 800, 1);
}

/// GPCs of 16 SMs in order, and two of 18.
int64_t gpc_of(int64_t cta) {
  return cta < 96 ? cta / 16 : 6 + (cta - 96) / 18;
}

// Every second GPC is slower by 1 %.
TEST(ItemCosts, GpcsAreApartByAsMuchAsTheRecordsSay) {
  const KernelShape kernel{64, {192, 128}, "hopper"};
  const auto by_gpc = [](int64_t cta) { return step_ns * (gpc_of(cta) % 2 == 0 ? 1.01 : 0.99); };
  const Found found(
      {launch(sms, by_gpc, kernel), launch(sms, usual, kernel), of_many_lengths(kernel)});
  EXPECT_NEAR(found("d64-192x128", "sm-spread"), 0.005, 6e-5) << "the mean of 0.01 and 0";
}

TEST(ItemCosts, NeedLongItemsOfLoneCtas) {
  EXPECT_THROW(Found({of_many_lengths({64, {192, 128}, "hopper"})}), std::invalid_argument);
  RecordedLaunch brief = launch(sms, usual);
  for (auto& items : brief.ctas)
    for (RecordedItem& item : items) item.steps = 100;
  EXPECT_THROW(Found({brief}), std::invalid_argument);
}

/// Two CTAs an SM whose steps take 3000 ns, of the older ones by `bias` less and of the younger
/// ones so much more.
RecordedLaunch two_ctas(const KernelShape& kernel, double bias) {
  return launch(
      2 * sms, [=](int64_t cta) { return 1.5 * step_ns * (1 + (is_younger(cta) ? bias : -bias)); },
      kernel);
}

TEST(ItemCosts, OfTwoCtasAnSmAStepIsHalfAndTheOlderOneIsPreferredByItsShare) {
  const KernelShape kernel{64, {128, 64}, "hopper-short"};
  const Found found({launch(sms, usual, kernel), of_many_lengths(kernel), two_ctas(kernel, 0.02)});
  EXPECT_NEAR(found("d64-128x64", "step-ns"), 0.75 * step_ns, 0.06);
  EXPECT_NEAR(found("d64-128x64", "exposed-ns"), 0.25 * step_ns, 0.06);
  EXPECT_EQ(found.word("d64-128x64", "keep-step"), "off");
  EXPECT_EQ(found("d64-128x64", "resident-ctas"), 2);
  // 4 x 64 FLOP take 256 / 480 where an exponential takes 1 / 6.
  const double share = (1.0 / 6) / (1.0 / 6 + 256.0 / 480);
  EXPECT_NEAR(found("d64-128x64", "age-bias"), 0.02 / share, 1e-4);
  EXPECT_NEAR(found("d64-128x64", "jitter-shared"), 0, 1e-6);
}

TEST(ItemCosts, TwoCtasOfOnePaceAlternate) {
  const KernelShape kernel{64, {128, 64}, "hopper-short"};
  const Found found({launch(sms, usual, kernel), of_many_lengths(kernel), two_ctas(kernel, 0)});
  EXPECT_EQ(found.word("d64-128x64", "keep-step"), "on");
  EXPECT_EQ(found.word("d64-128x64", "age-bias"), "");
  EXPECT_EQ(found.word("d64-128x64", "jitter-in-step"), "0.0000");
}

// A full clock of 2000 ns; with 1 TB/s a step takes 5 % longer.
TEST(ItemCosts, StepsThatDramTrafficSlowsDown) {
  const KernelShape kernel{64, {192, 128}, "hopper"};
  RecordedLaunch quiet = launch(sms, usual, kernel),
                 loud = launch(
                     sms, [](int64_t) { return 1.05 * step_ns; }, kernel);
  quiet.point.dram_tb_per_s = 0.1;
  loud.point.dram_tb_per_s = 1;
  EXPECT_NEAR(Found({quiet, loud})("d64-192x128", "dram-slowness"), 0.05, 1e-3);
}

const KernelShape backward{64, {64, 128}, "mma-backward"};

// Jitter of 1 % of an item of 1000 steps is 0.01 x sqrt(1000) of a step: every item is off by that
// much, up and down in turn, beyond what all items at its place are.
TEST(ItemCosts, OfABackwardKernelTellJitterFromTheSpreadOfGpcs) {
  const auto steps = [](auto, auto) { return 1000; };
  const auto pace = [](int64_t cta, int64_t k) {
    return step_ns * (1 + 0.02 * double(k)) * (1 + ((cta + k) % 2 == 0 ? 0.01 : -0.01)) *
           (1 + (gpc_of(cta) % 2 == 0 ? 0.02 : -0.02));
  };
  const Found found({made(sms, 9, steps, pace, backward, 0), of_many_lengths(backward)});
  // The deviation of a sample of eight of +-0.01 is 0.01 sqrt(8 / 7).
  EXPECT_NEAR(found("d64-64x128", "jitter"), 0.01 * std::sqrt(8.0 / 7 * 1000), 0.01);
  EXPECT_NEAR(found("d64-64x128", "sm-spread"), 0.02, 5e-4);
}

// Without a mask a quarter of a CTA's 8000 steps is in the wrong phase, in which they take 20 %
// longer; under a mask a quarter of those of items of 500 steps.
TEST(ItemCosts, OfABackwardKernelTellTheWrongPhase) {
  const auto steps = [](auto, auto) { return 1000; };
  const auto pace = [](int64_t cta, int64_t k) { return step_ns * ((cta + k) % 4 == 0 ? 1.2 : 1); };
  RecordedLaunch masked = made(
      2 * sms, 9, [](auto, auto) { return 500; }, [](auto, auto) { return 1.05 * step_ns; },
      backward);
  masked.point.mask = "causal";
  const Found found({made(
                         sms, 9, steps, [](auto, auto) { return step_ns; }, backward),
                     made(2 * sms, 9, steps, pace, backward), masked, of_many_lengths(backward)});
  EXPECT_EQ(found.word("d64-64x128", "keep-step"), "on");
  EXPECT_NEAR(found("d64-64x128", "wrong-phase-slowness"), 0.2, 2e-3);
  const double lasts = found("d64-64x128", "wrong-phase-steps");
  const double begun = found("d64-64x128", "wrong-phase-met-share");
  EXPECT_NEAR(begun * lasts, 2000, 80);
  EXPECT_NEAR(begun * lasts / 500 * (1 - std::exp(-500 / lasts)), 0.25, 0.01);
}

TEST(ItemRecords, ItemsOfAnotherTableAreNamed) {
  const std::string points = ::testing::TempDir() + "points.csv";
  const std::string items = ::testing::TempDir() + "items.csv";
  std::ofstream(points)
      << "run_id,head_dim,tile_q,tile_kv,mask,launch,workers,prefetch,kernel,scan,dtype,pass,"
         "dram_read_sectors,time_us\n"
         "a,64,128,128,none,static,132,0,mma-fp32,linear,fp32,backward,31250000,1000\n";
  std::ofstream(items) << "run_id,repetition,worker,items_before,item,steps,start_ns\n"
                          "a,0,1,1,7,10,900\na,0,1,0,3,10,100\n";
  const auto launches = read_item_records(points, items);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].point.element_bytes(), 4);
  EXPECT_EQ(launches[0].point.kernel.family, "mma-fp32-backward");
  EXPECT_DOUBLE_EQ(launches[0].point.dram_tb_per_s, 1);
  EXPECT_EQ(launches[0].ctas.at(1).front().item, 3) << "in the order of time";
  std::ofstream(items) << "run_id,repetition,worker,items_before,item,steps,start_ns\n"
                          "b,0,0,0,3,10,100\n";
  EXPECT_THAT(message_of<UsageError>([&] { read_item_records(points, items); }),
              HasSubstr("run_id b"));
}

TEST(LaunchTimes, AreReadBackAsTheyWereWritten) {
  const std::string path = ::testing::TempDir() + "launches.csv";
  const std::string written =
      launch_times_csv({launch_times(launch(sms, usual, narrow, 2), gpu())});
  std::ofstream(path) << written;
  EXPECT_EQ(launch_times_csv(read_launch_times(path)), written);
  std::ofstream(path) << "kernel\nmma\n";
  EXPECT_THAT(message_of<UsageError>([&] { read_launch_times(path); }),
              HasSubstr("has no column head_dim"));
}

TEST(ShippedCosts, WhatDramTakesOfTheClockIsTheMeanOfBothTiles) {
  const std::string root = SAWTOOTH_EXPERIMENTS_DIR;
  const sim::Gpu h200 = read_gpu_file(root + "/profiles/gpus/h200.ini").profile;
  const auto refit =
      item_costs(read_launch_times(root + "/data/h200/costs/hopper_loaded.csv"), h200, {});
  EXPECT_EQ(text(refit, "d128-128x128", "dram-slowness"), "0.064");
  EXPECT_EQ(text(refit, "d128-128x176", "dram-slowness"), "0.059");
}

/// Keys of shipped costs that launches.csv of their kernel tells, and within how much.
struct Shipped {
  const char* file;      // in profiles/kernels
  const char* launches;  // in data
  double within;         // a share
};

TEST(ShippedCosts, AreThoseOfTheLaunchesInTheTree) {
  const std::string root = SAWTOOTH_EXPERIMENTS_DIR;
  const sim::Gpu h200 = read_gpu_file(root + "/profiles/gpus/h200.ini").profile;
  sim::KernelCost known;
  set_kernel_cost(read_kernel_file(root + "/profiles/kernels/mma-h200.ini"),
                  {.head_dim = 1, .tiling = {}, .family = {}}, known);
  for (const auto& [file, launches, within] :
       {Shipped{"mma-h200", "h200/costs/mma", 0}, Shipped{"hopper-h200", "h200/costs/hopper", 0},
        Shipped{"hopper-h200", "h200/costs/hopper_dims", 0},
        Shipped{"hopper-short", "h200/costs/hopper_short", 0},
        Shipped{"mma-fp32", "h100/costs/mma_fp32", 0},
        Shipped{"mma-backward-h200", "h200/costs/mma_backward", 2e-4},
        Shipped{"mma-backward-h100-sxm", "h100/costs/mma_backward", 2e-4},
        Shipped{"hopper-backward-h200", "h200/costs/hopper_backward", 0}}) {
    const ProfileFile shipped =
        read_kernel_file(root + "/profiles/kernels/" + std::string(file) + ".ini");
    const auto refit = item_costs(
        read_launch_times(root + "/data/" + std::string(launches) + ".csv"), h200, known);
    int compared = 0;
    for (const ProfileSection& section : shipped.sections) {
      for (const Parameter& parameter : section.parameters) {
        // Records of long launches at the power limit have the fall of the clock in their jitter.
        if (parameter.key == "jitter" && parameter.source == "assumed") continue;
        const std::string value = text(refit, section.name, parameter.key);
        if (value.empty() || value == parameter.value) {
          compared += value.empty() ? 0 : 1;
          continue;
        }
        ++compared;
        std::cout << file << " [" << section.name << "] " << parameter.key << " = "
                  << parameter.value << ", of launches " << value << '\n';
        const double expected = std::stod(parameter.value);
        const size_t point = value.find('.');
        const double unit =
            std::pow(10, point == std::string::npos ? 0.0 : -double(value.size() - point - 1));
        EXPECT_NEAR(std::stod(value), expected, std::max(std::abs(expected) * within, 1.01 * unit))
            << file << " [" << section.name << "] " << parameter.key;
      }
    }
    EXPECT_GT(compared, 12) << file;
  }
}

}  // namespace
}  // namespace sawtooth::experiments
