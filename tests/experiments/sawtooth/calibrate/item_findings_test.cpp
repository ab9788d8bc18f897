// Launches made from known speeds, found again; and the recorded ones of an H200.
#include "experiments/sawtooth/calibrate/item_findings.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "sim/timed/cta_order.hpp"
#include "sim/timed/start_order.hpp"
#include "tests/support/recorded_layout.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int64_t sms = 132;
constexpr double step_ns = 2000;
constexpr double item_ns = 3300;  // item-end-ns of the shipped costs
using Pace = std::function<double(int64_t cta)>;

sim::Gpu gpu() {
  sim::Gpu gpu;
  gpu.sms = sms;
  gpu.layout = tests::recorded_layout();
  return gpu;
}

/// Of each SM its older and its younger CTA: 0 to 7 share with 80 to 87, later ones c with c + 132,
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

RecordedLaunch launch(int64_t ctas, const Pace& pace, KernelShape kernel = {64, {128, 128}},
                      int64_t prefetch = 0) {
  constexpr int64_t steps = 1000, items = 4;
  RecordedLaunch made{.kernel = kernel,
                      .mask = "none",
                      .launch = "static",
                      .workers = ctas,
                      .prefetch = prefetch,
                      .ctas = {}};
  for (int64_t cta = 0; cta < ctas; ++cta) {
    auto& own = made.ctas.emplace_back();
    for (int64_t k = 0; k < items; ++k)
      own.push_back(
          {std::llround(double(k) * (double(steps) * pace(cta) + item_ns)), cta + k * ctas, steps});
  }
  return made;
}

double usual(int64_t) {
  return step_ns;
}

ItemFindings find(const std::vector<RecordedLaunch>& launches) {
  return findings_of(launches, gpu(), item_ns);
}

std::string text(const std::vector<Parameter>& parameters, std::string_view key) {
  for (const Parameter& parameter : parameters)
    if (parameter.key == key) return parameter.value;
  return {};
}

const std::vector<Parameter>& section(const std::vector<ProfileSection>& sections,
                                      std::string_view name) {
  static const std::vector<Parameter> none;
  for (const ProfileSection& section : sections)
    if (section.name == name) return section.parameters;
  return none;
}

double number(const ItemFindings& found, std::string_view name, std::string_view key) {
  const std::string value = text(section(found.kernels, name), key);
  EXPECT_FALSE(value.empty()) << name << ' ' << key;
  return value.empty() ? NAN : std::stod(value);
}

std::vector<double> numbers(const ItemFindings& found, std::string_view name,
                            std::string_view key) {
  std::vector<double> list;
  for (const std::string& part : split_list(text(section(found.speeds, name), key)))
    if (!part.empty()) list.push_back(std::stod(part));
  EXPECT_EQ(list.size(), size_t(sms)) << name << ' ' << key;
  list.resize(sms);
  return list;
}

// GPC of CTAs 32 to 47 by 0.2 %, the first SM of a TPC by 0.05 % more than the second.
TEST(ItemFindings, ASlowGpcIsFoundAndTpcsDoNotBlurIt) {
  const ItemFindings found = find({launch(sms, [](int64_t cta) {
    return step_ns * (1 + (cta >= 32 && cta < 48 ? 0.002 : 0) + (cta % 2 == 0 ? 1 : -1) * 0.00025);
  })});
  const std::vector<double> slowness = numbers(found, "every", "slowness");
  for (size_t cta = 0; cta < slowness.size(); ++cta)
    EXPECT_NEAR(slowness[cta], cta >= 32 && cta < 48 ? 0.002 : 0, 3e-6) << cta;
  EXPECT_NEAR(number(found, "d64-128x128", "tpc-spread"), 0.00025, 2e-6);
  EXPECT_EQ(numbers(found, "d64-128x128", "slowness"), slowness);
  EXPECT_TRUE(found.die.parameters.empty()) << "no tickets, no halves";
}

TEST(ItemFindings, ATpcThatIsApartFromItsGpcKeepsItsOwnSpeedAloneAndWithTwoCtas) {
  const auto alone = [](int64_t cta) { return step_ns * (cta == 52 || cta == 53 ? 1.03 : 1); };
  const auto shared = [](int64_t cta) {  // SM 52 has CTAs 52 and 184
    const double factor = cta == 52 || cta == 53 ? 1.02 : cta == 184 || cta == 185 ? 0.99 : 1;
    return step_ns * factor;
  };
  const ItemFindings found = find({launch(sms, alone), launch(2 * sms, shared)});
  const auto check = [&](const char* name, const char* key, double slow_by) {
    const std::vector<double> values = numbers(found, name, key);
    for (size_t sm = 0; sm < values.size(); ++sm)
      EXPECT_NEAR(values[sm], sm == 52 || sm == 53 ? slow_by : 0, 1e-5) << key << ' ' << sm;
  };
  check("every", "slowness", 0.03);
  check("d64-128x128", "slowness", 0.03);
  check("d64-128x128", "slowness-older", 0.02);
  check("d64-128x128", "slowness-younger", -0.01);
}

TEST(ItemFindings, HowLateTheLastTpcsAreWithAnItem) {
  const sim::Gpu h200 = gpu();
  const std::vector<double> turns =
      sim::turns_of(sim::placed_sms(sms, 2, h200.layout), h200.layout.tpc_turns);
  RecordedLaunch causal = launch(sms, usual);
  causal.mask = "causal";
  for (int64_t cta = 0; cta < sms; ++cta) {
    double start = 0;
    causal.ctas[size_t(cta)].clear();
    for (int64_t k = 0; k < 8; ++k) {
      const int64_t steps = 1000 - 100 * k - cta % 16;
      causal.ctas[size_t(cta)].push_back({std::llround(start), cta + sms * k, steps});
      start += double(steps) * step_ns + 5000 + 400 * turns[size_t(cta)];
    }
  }
  const ItemFindings found = find({launch(sms, usual), causal});
  EXPECT_NEAR(number(found, "every", "item-spread-ns"), 400, 30);
  for (const Parameter& parameter : section(found.kernels, "every")) {
    if (parameter.key != "item-spread-ns") continue;
    const size_t takes = parameter.note.find("takes ", parameter.note.find("; an item"));
    EXPECT_NEAR(std::stod(parameter.note.substr(takes + 6)), 5200, 30) << parameter.note;
  }
}

// Of 132 CTAs 0, 33, 66 and 99 have none of 128 lines.
TEST(ItemFindings, WhatPrefetchCostsCtasWithLinesAndWithout) {
  const KernelShape wide{128, {128, 64}};
  const auto ahead = [](int64_t cta) { return step_ns + 50 + (cta % 33 == 0 ? 0 : 90); };
  const ItemFindings found = find({launch(sms, usual, wide), launch(sms, ahead, wide, 2)});
  EXPECT_NEAR(number(found, "every", "prefetch-step-ns"), 50, 1e-9);
  EXPECT_NEAR(number(found, "every", "prefetch-lines-ns"), 90, 1e-9);
}

std::vector<int64_t> first_to_draw(bool near_half) {
  std::vector<int64_t> ctas;
  for (int64_t cta = 0; cta < sms; ++cta) {
    const bool near = (cta >= 16 && cta < 48) || (cta >= 80 && cta < 96) || cta >= 114;
    if (near == near_half) ctas.push_back(cta);
  }
  return ctas;
}

TEST(ItemFindings, GpcsThatDrawFirstSitAtTheHalfOfTheTickets) {
  RecordedLaunch dynamic = launch(sms, usual);
  dynamic.launch = "dynamic";
  int64_t ticket = 0;
  for (const bool near : {true, false})
    for (const int64_t cta : first_to_draw(near)) {
      for (RecordedItem& item : dynamic.ctas[size_t(cta)]) item.start_ns += near ? 0 : 120;
      dynamic.ctas[size_t(cta)].front().item = ticket++;
    }
  const ItemFindings found = find({launch(sms, usual), dynamic});
  const std::vector<std::string> halves = split_list(text(found.die.parameters, "cta-half"));
  ASSERT_EQ(halves.size(), size_t(sms));
  for (const bool near : {true, false})
    for (const int64_t cta : first_to_draw(near))
      EXPECT_EQ(halves[size_t(cta)], near ? "1" : "0") << cta;
  EXPECT_EQ(text(found.die.parameters, "ticket-half"), "1");
  EXPECT_EQ(text(found.gpu, "ticket-hop-ns"), "120");
}

TEST(ItemFindings, TicketsThatDoNotTellTheHalvesApartAreRefused) {
  RecordedLaunch dynamic = launch(sms, usual);
  dynamic.launch = "dynamic";
  EXPECT_THROW(find({launch(sms, usual), dynamic}), std::invalid_argument);
}

// Half of a step's pipes are exponentials here: 1000 of 128 x 128 in a step of 2000, so a CTA that
// is faster by 5 % has a bias of a tenth of them.
TEST(ItemFindings, OfTwoCtasTheOlderOneIsFound) {
  const auto biased = [](int64_t cta) { return 2 * step_ns * (is_younger(cta) ? 1.05 : 0.95); };
  const ItemFindings found = find(
      {launch(sms, usual), launch(sms, [](int64_t) { return step_ns - 500; }, {128, {128, 64}}),
       launch(2 * sms, biased)});
  EXPECT_NEAR(number(found, "every", "age-bias"), 0.1, 1e-3);
}

TEST(ItemFindings, WhatPrefetchCostsTwoCtasOfAnSm) {
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
  const ItemFindings found = find(
      {launch(sms, usual), launch(2 * sms, usual), launch(2 * sms, pace, {64, {128, 128}}, 2)});
  EXPECT_NEAR(number(found, "every", "prefetch-step-shared-ns"), 40, 0.1);
  EXPECT_NEAR(number(found, "every", "prefetch-lines-shared-ns"), 60, 0.1);
  EXPECT_NEAR(number(found, "every", "prefetch-lines-bias"), 0.05, 1e-3);
}

TEST(ItemFindings, StepCostsAreThoseThatThePacesWereMadeFrom) {
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
  const ItemFindings found = find(launches);
  EXPECT_NEAR(number(found, "every", "tensor-tflops"), 128 * 128 * 64 * 4 * 132 / 1e6, 0.051);
  EXPECT_NEAR(number(found, "every", "exp-tera-per-s"), 128 * 128 * 132 / 4e5, 0.0051);
  for (const Made& made : kernels) {
    const bool usual_kernel = made.exponentials < 1 && made.products == 1;
    const std::string name =
        usual_kernel ? "every" : kernel_section(made.kernel.head_dim, made.kernel.tiling);
    EXPECT_NEAR(number(found, name, "fixed-ns"), made.fixed_ns, 1e-9) << name;
    EXPECT_NEAR(number(found, name, "exposed-ns"), made.exposed_ns, 1e-9) << name;
  }
}

TEST(ItemFindings, ShortItemsSayNothingOfSpeeds) {
  RecordedLaunch brief = launch(sms, usual);
  for (auto& items : brief.ctas)
    for (RecordedItem& item : items) item.steps = 100;
  EXPECT_THROW(find({brief}), std::invalid_argument);
}

/// Items of 400 to 800 steps, so that lengths tell the step from what an item takes beyond.
RecordedLaunch of_many_lengths(const KernelShape& kernel, double beyond_ns) {
  RecordedLaunch made{.kernel = kernel,
                      .mask = "causal",
                      .launch = "static",
                      .workers = sms,
                      .prefetch = 0,
                      .ctas = {}};
  for (int64_t cta = 0; cta < sms; ++cta) {
    int64_t start_ns = 0;
    auto& own = made.ctas.emplace_back();
    for (int64_t k = 0; k < 5; ++k) {
      const int64_t steps = 800 - 100 * k - cta % 50;
      own.push_back({start_ns, cta + k * sms, steps});
      start_ns += std::llround(double(steps) * step_ns + beyond_ns);
    }
  }
  return made;
}

/// What every kernel costs, of which the findings of a family need these.
sim::KernelCost known_costs() {
  sim::KernelCost known;
  known.tensor_tflops = 480;
  known.exp_tera_per_s = 6;
  known.item_begin_ns = 800;
  return known;
}

TEST(FamilyFindings, AStepAnItemAndPrefetchAreThoseThatTheRecordsWereMadeFrom) {
  constexpr double beyond_ns = item_ns;
  const KernelShape kernel{64, {192, 128}, "hopper"};
  sim::Gpu h200 = gpu();
  h200.l2_bytes = 60 << 20;
  h200.l2_halves = 2;
  // Q, K and V of 192 and 2 x 128 rows of 128 bytes take 1000 ns through a port of 57.344 GB/s.
  h200.latency_dram_ns = 360;
  h200.tile_gb_per_s = 40.96;  // Q and K in a microsecond
  const auto slower = [](int64_t cta) { return step_ns + 25 + (cta % 2 == 0 ? 1 : -1) * 0.5; };
  const auto slower_yet = [&](int64_t cta) { return slower(cta) + 15; };
  RecordedLaunch sawtooth = launch(sms, slower_yet, kernel, 2);
  sawtooth.scan = "sawtooth";
  const auto sections = family_findings({launch(sms, usual, kernel), launch(sms, slower, kernel, 2),
                                         sawtooth, of_many_lengths(kernel, beyond_ns)},
                                        h200, known_costs());
  const auto value = [&](std::string_view name, std::string_view key) {
    const std::string written = text(section(sections, name), key);
    EXPECT_FALSE(written.empty()) << name << ' ' << key;
    return written.empty() ? NAN : std::stod(written);
  };
  EXPECT_EQ(value("every", "item-begin-ns"), 0);
  EXPECT_NEAR(value("d64-192x128", "item-end-ns"), beyond_ns - 1360, 1);
  EXPECT_NEAR(value("d64-192x128", "step-ns"), step_ns, 0.06);
  EXPECT_NEAR(value("d64-192x128", "prefetch-step-ns"), 25, 0.6);
  EXPECT_NEAR(value("d64-192x128", "prefetch-scan-ns"), 15, 0.1);
  EXPECT_NEAR(value("d64-192x128", "tpc-spread"), 0, 1e-6);
}

struct ShippedCosts {
  const char* file;          // in profiles/kernels
  const char* records;       // in data
  size_t of_every, of_each;  // parameters in [every], and in other sections, from elsewhere
  size_t of_wide;            // more of them at D = 128
};

// From durations: power-slowness, launch-ns, refill-ns and dram-slowness (power.py, launch.py and
// loaded.py of experiments/studies/validation), and prefetch-attach-ns of calibration_attach; of
// the variant table: resident-ctas.
TEST(FamilyFindings, OfTheRecordedLaunchesAreTheShippedCosts) {
  const std::string root = SAWTOOTH_EXPERIMENTS_DIR;
  const sim::Gpu h200 = read_gpu_file(root + "/profiles/gpus/h200.ini").profile;
  sim::KernelCost known;
  set_kernel_cost(read_kernel_file(root + "/profiles/kernels/mma-h200.ini"),
                  {.head_dim = 1, .tiling = {}, .family = {}}, known);
  for (const auto& [file, records, of_every, of_each, of_wide] :
       {ShippedCosts{"hopper-h200", "h200/validation/calibration_hopper", 2, 2, 1},
        ShippedCosts{"hopper-short", "h100/validation/calibration_hopper_short", 2, 1, 0},
        ShippedCosts{"mma-fp32", "h100/validation/calibration_mma_fp32", 0, 1, 0}}) {
    const std::string rows = root + "/data/" + records;
    const ProfileFile shipped = read_kernel_file(root + "/profiles/kernels/" + file + ".ini");
    const auto found =
        family_findings(read_item_records(rows + ".csv", rows + "_items.csv.xz"), h200, known);
    ASSERT_EQ(shipped.sections.size(), found.size() + 1) << file;  // and [kernel]
    for (const ProfileSection& section : found) {
      const auto& of_file =
          *std::ranges::find(shipped.sections, section.name, &ProfileSection::name);
      const size_t wide = section.name.starts_with("d128") ? of_wide : 0;
      const size_t of_others = section.name == "every" ? of_every : of_each + wide;
      const auto of_rings = size_t(std::ranges::count_if(
          of_file.parameters, [](const auto& p) { return p.key.starts_with("staggered-"); }));
      ASSERT_EQ(of_file.parameters.size() - of_rings, section.parameters.size() + of_others)
          << file << ' ' << section.name;
      for (size_t i = 0; i < section.parameters.size(); ++i) {
        EXPECT_EQ(of_file.parameters[i].key, section.parameters[i].key) << section.name;
        EXPECT_EQ(of_file.parameters[i].value, section.parameters[i].value)
            << file << ' ' << section.name << ' ' << of_file.parameters[i].key;
      }
    }
  }
}

TEST(FamilyFindings, GpcsAreApartByAsMuchAsTheRecordsSay) {
  const KernelShape kernel{64, {192, 128}, "hopper"};
  // GPCs of 16 SMs in order, and two of 18: every second one slower by 1 %.
  const auto by_gpc = [](int64_t cta) {
    const int64_t gpc = cta < 96 ? cta / 16 : 6 + (cta - 96) / 18;
    return step_ns * (gpc % 2 == 0 ? 1.01 : 0.99);
  };
  sim::Gpu h200 = gpu();
  h200.l2_bytes = 60 << 20;
  const auto sections = family_findings(
      {launch(sms, by_gpc, kernel), launch(sms, usual, kernel), of_many_lengths(kernel, item_ns)},
      h200, known_costs());
  EXPECT_NEAR(std::stod(text(section(sections, "d64-192x128"), "sm-spread")), 0.005, 6e-5)
      << "the mean of 0.01 and 0";
}

TEST(FamilyFindings, NeedsLongItemsOfLoneCtas) {
  EXPECT_THROW(
      family_findings({of_many_lengths({64, {192, 128}, "hopper"}, 0)}, gpu(), known_costs()),
      std::invalid_argument);
}

/// Two CTAs an SM whose steps take 3000 ns, of the older ones by `bias` less and of the younger
/// ones so much more.
RecordedLaunch two_ctas(const KernelShape& kernel, double bias) {
  return launch(
      2 * sms, [=](int64_t cta) { return 1.5 * step_ns * (1 + (is_younger(cta) ? bias : -bias)); },
      kernel);
}

std::string found_text(const std::vector<ProfileSection>& sections, std::string_view name,
                       std::string_view key) {
  return text(section(sections, name), key);
}

TEST(FamilyFindings, OfTwoCtasAnSmAStepIsHalfAndTheOlderOneIsPreferredByItsShare) {
  const KernelShape kernel{64, {128, 64}, "hopper-short"};
  const auto sections = family_findings(
      {launch(sms, usual, kernel), of_many_lengths(kernel, item_ns), two_ctas(kernel, 0.02)}, gpu(),
      known_costs());
  const auto value = [&](std::string_view key) {
    const std::string written = found_text(sections, "d64-128x64", key);
    EXPECT_FALSE(written.empty()) << key;
    return written.empty() ? NAN : std::stod(written);
  };
  EXPECT_NEAR(value("step-ns"), 0.75 * step_ns, 0.06);
  EXPECT_NEAR(value("exposed-ns"), 0.25 * step_ns, 0.06);
  EXPECT_EQ(found_text(sections, "d64-128x64", "keep-step"), "off");
  // 4 x 64 FLOP take 256 / 480 where an exponential takes 1 / 6.
  const double share = (1.0 / 6) / (1.0 / 6 + 256.0 / 480);
  EXPECT_NEAR(value("age-bias"), 0.02 / share, 1e-4);
  EXPECT_NEAR(value("jitter-shared"), 0, 1e-6);
}

TEST(FamilyFindings, TwoCtasOfOnePaceAlternate) {
  const KernelShape kernel{64, {128, 64}, "hopper-short"};
  const auto sections = family_findings(
      {launch(sms, usual, kernel), of_many_lengths(kernel, item_ns), two_ctas(kernel, 0)}, gpu(),
      known_costs());
  EXPECT_EQ(found_text(sections, "d64-128x64", "keep-step"), "on");
  EXPECT_EQ(found_text(sections, "d64-128x64", "age-bias"), "");
  EXPECT_EQ(found_text(sections, "d64-128x64", "jitter-in-step"), "0.0000");
}

// Q and a tile of K and V, 192 rows of 256 bytes, take a microsecond through one SM's part of L2.
TEST(FamilyFindings, WithoutLeadsAnItemOfFp32WaitsForItsQAndForBothTiles) {
  const KernelShape kernel{64, {64, 64}, "mma-fp32"};
  sim::Gpu h200 = gpu();
  h200.latency_dram_ns = 360;
  h200.l2_gb_per_s = 49.152 * double(sms);
  std::vector<RecordedLaunch> launches{launch(sms, usual, kernel),
                                       of_many_lengths(kernel, item_ns)};
  for (RecordedLaunch& one : launches) one.element_bytes = 4;
  const auto sections = family_findings(launches, h200, known_costs());
  EXPECT_TRUE(section(sections, "every").empty());
  EXPECT_NEAR(std::stod(found_text(sections, "d64-64x64", "item-end-ns")), item_ns - 1360 - 800, 1);
}

TEST(ItemRecords, ItemsOfAnotherTableAreNamed) {
  const std::string points = ::testing::TempDir() + "points.csv";
  const std::string items = ::testing::TempDir() + "items.csv";
  std::ofstream(points)
      << "run_id,head_dim,tile_q,tile_kv,mask,launch,workers,prefetch,kernel,scan,dtype\n"
         "a,64,128,128,none,static,132,0,mma-fp32,linear,fp32\n";
  std::ofstream(items) << "run_id,repetition,worker,items_before,item,steps,start_ns\n"
                          "a,0,1,1,7,10,900\na,0,1,0,3,10,100\n";
  const auto launches = read_item_records(points, items);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].element_bytes, 4);
  EXPECT_EQ(launches[0].ctas.at(1).front().item, 3) << "in the order of time";
  std::ofstream(items) << "run_id,repetition,worker,items_before,item,steps,start_ns\n"
                          "b,0,1,0,3,10,100\n";
  try {
    read_item_records(points, items);
    FAIL() << "no point b";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("run_id b"), std::string::npos);
  }
}

// What is not of the recorded set as it is now: values of other records, or read by eye.
bool is_of_other_records(const std::string& key) {
  return key == "jitter" || key == "start-spread-ns" || key == "ticket-hop-ns" ||
         key == "item-spread-ns";
}

// Within 1 % or, of small costs, 2 ns of a step.
double allowed(const std::string& key, double shipped) {
  const double least = key.ends_with("-ns") ? 2 : key.starts_with("tpc") ? 0.00004 : 0.002;
  return std::max(std::abs(shipped) * 0.01, least);
}

TEST(RecordedItems, GiveTheShippedKernelAndDie) {
  const std::string experiments = SAWTOOTH_EXPERIMENTS_DIR, data = experiments + "/data/h200/";
  const sim::Gpu h200 = read_gpu_file(experiments + "/profiles/gpus/h200.ini").profile;
  std::vector<RecordedLaunch> launches;
  try {
    launches = read_item_records(data + "validation/calibration.csv",
                                 data + "validation/calibration_items.csv.xz");
  } catch (const UsageError& error) {
    if (std::string(error.what()).find("xz cannot") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  const ItemFindings found = findings_of(launches, h200, item_ns);
  const ProfileFile shipped = read_kernel_file(experiments + "/profiles/kernels/mma-h200.ini");
  int compared = 0;
  for (const ProfileSection& own : shipped.sections) {
    for (const Parameter& parameter : own.parameters) {
      const std::string value = text(section(found.kernels, own.name), parameter.key);
      if (value.empty() || is_of_other_records(parameter.key)) continue;
      const double expected = std::stod(parameter.value);
      EXPECT_NEAR(std::stod(value), expected, allowed(parameter.key, expected))
          << own.name << ' ' << parameter.key;
      ++compared;
    }
  }
  EXPECT_GE(compared, 25);
  const ProfileFile die = read_die_file(experiments + "/profiles/dies/h200-judgement.ini");
  EXPECT_EQ(text(found.die.parameters, "cta-half"), text(die.sections[0].parameters, "cta-half"));
  EXPECT_EQ(text(found.die.parameters, "ticket-half"),
            text(die.sections[0].parameters, "ticket-half"));
  for (size_t s = 1; s < die.sections.size(); ++s) {
    for (const Parameter& parameter : die.sections[s].parameters) {
      const std::vector<double> values = numbers(found, die.sections[s].name, parameter.key);
      const std::vector<std::string> known = split_list(parameter.value);
      for (size_t sm = 0; sm < values.size(); ++sm)
        EXPECT_NEAR(values[sm], std::stod(known[sm]), std::max(5e-6, 0.01 * std::abs(values[sm])))
            << die.sections[s].name << ' ' << parameter.key << ' ' << sm;
    }
  }
}

}  // namespace
}  // namespace sawtooth::experiments
