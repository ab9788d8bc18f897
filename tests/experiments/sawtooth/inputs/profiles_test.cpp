#include "experiments/sawtooth/inputs/profiles.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"
#include "tests/support/recorded_layout.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string head = "[gpu]\ndescription = a GPU\n";
const std::string sms = "sms = 4; datasheet; n\n";
const std::string l2 = "l2-bytes = 1 MiB; assumed; n\n";

template <class Read>
std::string message(Read read, const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.write("mine.ini", text);
  const std::string whole = message_of<UsageError>([&] { read(path); });
  EXPECT_TRUE(whole.starts_with(path)) << whole;
  return whole.substr(path.size());
}

std::string gpu_message(const std::string& text) {
  return message(read_gpu_file, text);
}

GpuFile gpu_of(const std::string& text) {
  const TemporaryFolder folder;
  return read_gpu_file(folder.write("mine.ini", text));
}

sim::KernelCost cost_of(const std::string& text, const KernelShape& kernel) {
  const TemporaryFolder folder;
  sim::KernelCost cost;
  set_kernel_cost(read_kernel_file(folder.write("mine.ini", text)), kernel, cost);
  return cost;
}

TEST(GpuFile, EveryParameterReachesTheProfileAndUnknownOnesStayEmpty) {
  const GpuFile gpu = gpu_of(head + "kernel-costs = some, other\n" + sms + l2 +
                             "dram-gb-per-s = 4800.5; measured; n; with a semicolon\n");
  EXPECT_EQ(gpu.profile.name, "mine");
  EXPECT_EQ(gpu.description, "a GPU");
  EXPECT_EQ(gpu.kernel_costs, (std::vector<std::string>{"some", "other"}));
  EXPECT_EQ(gpu.profile.sms, 4);
  EXPECT_EQ(gpu.profile.l2_bytes, 1 << 20);
  EXPECT_EQ(gpu.profile.dram_gb_per_s, 4800.5);
  EXPECT_EQ(gpu.profile.l2_halves, std::nullopt);
  ASSERT_EQ(gpu.parameters.size(), 3u);
  EXPECT_EQ(gpu.parameters[1].source, "assumed");
  EXPECT_EQ(gpu.parameters[2].note, "n; with a semicolon");
}

TEST(GpuFile, HasALayoutOfItsSms) {
  const sim::SmLayout layout = gpu_of(head + "sms = 10; assumed; n\n" + l2 +
                                      "gpc-sms = 4,6; assumed; n\n"
                                      "gpc-half = 1,0; assumed; n\n"
                                      "cta-order = 1:1-2, 0, 1:0-0; assumed; n\n"
                                      "tpc-turns = 1,0 / 2,0,1; assumed; n\n")
                                   .profile.layout;
  EXPECT_THAT(layout.gpc_sms, ElementsAre(4, 6));
  EXPECT_THAT(layout.gpc_half, ElementsAre(1, 0));
  ASSERT_EQ(layout.cta_order.size(), 3u);
  EXPECT_EQ(layout.cta_order[0].gpc, 1);
  EXPECT_EQ(layout.cta_order[0].first_tpc, 1);
  EXPECT_EQ(layout.cta_order[0].tpcs, 2);
  EXPECT_EQ(layout.cta_order[1].tpcs, 0) << "all of GPC 0";
  EXPECT_THAT(layout.tpc_turns, ElementsAre(ElementsAre(1, 0), ElementsAre(2, 0, 1)));
}

TEST(GpuFile, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(gpu_message(head + sms), ": l2-bytes is missing");
  EXPECT_EQ(gpu_message("[gpu]\n" + sms + l2), ": [gpu] has no description");
  EXPECT_EQ(
      gpu_message(head + "sms = 4; rumour; n\n"),
      ":3: sms: source 'rumour' is not allowed; allowed: datasheet, measured, published, assumed");
  EXPECT_EQ(gpu_message(head + "sms = 4; measured; \n"), ":3: sms: has no note");
  EXPECT_EQ(gpu_message(head + "sms = 4; measured\n"), ":3: sms: needs 'value; source; note'");
  EXPECT_EQ(gpu_message(head + "sms = 0; measured; n\n"),
            ":3: sms: '0' is not allowed; allowed: a whole number from 1 to 1024");
  EXPECT_EQ(gpu_message(head + sms + sms), ":4: sms: given twice");
  EXPECT_EQ(gpu_message(head + "[gpu]\n"), ":3: the first section, and it alone, is [gpu]");
  EXPECT_TRUE(gpu_message(head + "smms = 1; measured; n\n")
                  .starts_with(":3: smms: unknown; allowed: sms, l2-bytes,"));
  EXPECT_EQ(gpu_message(head + sms + l2 + "[d64-128x128]\n"),
            ":5: [d64-128x128]: unknown; allowed: gpu, pace, judged, intervals, "
            "intervals-FAMILY");
  EXPECT_TRUE(gpu_message(head + "sm-spread = much; measured; n\n")
                  .ends_with("sm-spread: 'much' is not allowed; allowed: a number from 0 to 0.1"));
  EXPECT_TRUE(gpu_message("sms = 3\n").starts_with(":1: the first section"));
}

TEST(GpuFile, APaceIsOfAFileOfKernelCosts) {
  const std::string usual = head + "kernel-costs = some, other\n" + sms + l2 + "[pace]\n";
  const GpuFile gpu = gpu_of(usual + "other = 0.98; measured; n\n");
  ASSERT_EQ(gpu.paces.size(), 1u);
  EXPECT_EQ(gpu.paces.at("other"), 0.98);
  EXPECT_EQ(gpu_message(usual + "third = 1; measured; n\n"),
            ":7: third: no file of kernel-costs; allowed: some, other");
  EXPECT_EQ(gpu_message(head + sms + l2 + "[pace]\nsome = 1; measured; n\n"),
            ":6: some: no file of kernel-costs; allowed: none");
  EXPECT_EQ(gpu_message(usual + "some = 11; measured; n\n"),
            ":7: some: '11' is not allowed; allowed: a number from 0.1 to 10");
}

TEST(GpuFile, AnIntervalIsOfAColumnAndHasSixNumbers) {
  const std::string usual = head + sms + l2 + "[intervals]\n";
  const GpuFile gpu = gpu_of(usual + "time_us = 0.1, 0.2, 0.3, 0.4, 0.01, 3; measured; n\n" +
                             "[intervals-hopper]\ntime_us = 1, 1, 1, 1, 0, 7; measured; n\n");
  const auto& read = gpu.intervals;
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].column, "time_us");
  EXPECT_EQ(read[0].of_one_launch, (std::array<double, 4>{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(read[0].floor, 0.01);
  EXPECT_EQ(read[0].factor, 3);
  ASSERT_EQ(gpu.family_intervals.size(), 1u);
  const auto& [family, widths] = *gpu.family_intervals.begin();
  EXPECT_EQ(family, "hopper");
  ASSERT_EQ(widths.size(), 1u);
  EXPECT_EQ(widths[0].factor, 7);
  EXPECT_TRUE(gpu_message(usual + "sm_read_sectors = 0.1, 0.01, 3; measured; n\n")
                  .starts_with(":6: sm_read_sectors: unknown; allowed: l2_read_sectors, "));
  for (const char* numbers :
       {"0.1", "0.1, 0.01, 3", "0, 0, 0, 0, 0.01", "0, 0, 0, 0, 0, 3, 4", "0, 0, wide, 0, 0, 3",
        "0, 11, 0, 0, 0.01, 3", "0, 0, 0, 0, 11, 3", "0, 0, 0, 0, 0.01, 101",
        "-0.1, 0, 0, 0, 0.01, 3", "0, 0, 0, nan, 0, 3"}) {
    EXPECT_EQ(gpu_message(usual + "time_us = " + numbers + "; measured; n\n"),
              std::string(":6: time_us: '") + numbers +
                  "' is not allowed; allowed: six numbers, five from 0 to 10 and one from 0 to "
                  "100");
  }
}

TEST(GpuFile, ALayoutThatIsNotThatOfItsSmsIsRefused) {
  const std::string usual = head + "sms = 8; assumed; n\n" + l2 + "gpc-sms = 4,4; assumed; n\n";
  const std::string halves = "gpc-half = 0,1; assumed; n\n";
  EXPECT_THAT(gpu_message(head + sms + l2 + "gpc-sms = 4,4; assumed; n\n"),
              HasSubstr("gpc-sms: has 8 SMs, sms 4"));
  EXPECT_THAT(gpu_message(usual), HasSubstr("gpc-half: needs a half for each GPC"));
  EXPECT_THAT(gpu_message(usual + halves + "cta-order = 0,2; assumed; n\n"),
              HasSubstr("there is no GPC 2"));
  EXPECT_THAT(gpu_message(usual + halves + "cta-order = 0,1:1-2; assumed; n\n"),
              HasSubstr("GPC 1 has 2 TPCs"));
  EXPECT_THAT(gpu_message(usual + halves + "cta-order = 0,1,1; assumed; n\n"),
              HasSubstr("needs each TPC once, or each one equally often"));
  EXPECT_THAT(gpu_message(usual + halves + "cta-order = 0,1:2; assumed; n\n"),
              HasSubstr("cta-order: number 2 is not allowed; allowed: GPCs and"));
}

const KernelShape narrow{64, {128, 128}};

TEST(KernelFile, AShapesOwnValueReplacesThatOfTheOthersForItAlone) {
  const std::string text =
      "[kernel]\n[every]\ntpc-spread = 0.1; measured; n\n"
      "[d64-128x128]\ntpc-spread = -0.2; measured; n\nkeep-step = on; measured; n\n";
  EXPECT_EQ(cost_of(text, {64, {128, 64}}).tpc_spread, 0.1);
  EXPECT_FALSE(cost_of(text, {64, {128, 64}}).keep_step);
  EXPECT_EQ(cost_of(text, narrow).tpc_spread, -0.2);
  EXPECT_TRUE(cost_of(text, narrow).keep_step);
  EXPECT_EQ(cost_of(text, {64, {128, 128}, ""}).tpc_spread, 0.1) << "of no family";
  EXPECT_EQ(cost_of(text, {64, {128, 128}, "hopper"}).tpc_spread, 0.1) << "of another family";
}

TEST(KernelFile, ShapesAreOfTheFamilyThatTheFileNames) {
  const std::string text =
      "[kernel]\nfamily = hopper\n[every]\ntpc-spread = 0.1; measured; n\n"
      "[d64-128x128]\ntpc-spread = -0.2; measured; n\n";
  EXPECT_EQ(cost_of(text, {64, {128, 128}, "hopper"}).tpc_spread, -0.2);
  EXPECT_EQ(cost_of(text, narrow).tpc_spread, 0.1);
}

TEST(KernelFile, WideHeadsHaveValuesOfTheirOwn) {
  const std::string text =
      "[kernel]\n[every]\nage-bias = 0.4; measured; n\njitter-shared = 0.08; measured; n\n"
      "[d>64]\nage-bias = 0.6; measured; n\njitter-shared = 0.05; measured; n\n";
  for (const char* family : {"mma", ""}) {
    EXPECT_EQ(cost_of(text, {128, {128, 64}, family}).age_bias, 0.6);
    EXPECT_EQ(cost_of(text, {128, {128, 64}, family}).jitter_shared, 0.05);
    EXPECT_EQ(cost_of(text, {64, {128, 64}, family}).age_bias, 0.4);
    EXPECT_EQ(cost_of(text, {64, {128, 64}, family}).jitter_shared, 0.08);
  }
}

TEST(KernelFile, AskedForByNameItsShapesHoldForEveryFamily) {
  const TemporaryFolder folder;
  const std::string text = "[kernel]\ndescription = d\n[d64-80x80]\nstep-ns = 47000; assumed; n\n";
  const ProfileFile file = read_kernel_file(folder.write("mine.ini", text));
  const auto step_ns = [&](const Tiling& tiling) {
    sim::KernelCost cost;
    set_named_kernel_cost(file, {.head_dim = 64, .tiling = tiling, .family = ""}, cost);
    return cost.step_ns.value();
  };
  EXPECT_EQ(step_ns({80, 80}), 47'000);
  EXPECT_THAT(message_of<UsageError>([&] {
                step_ns({64, 64});
              }),
              HasSubstr("mine.ini has no costs of d64-64x64; it has d64-80x80"));
}

TEST(KernelFile, HasWhatItsBaseHasWhereItSaysNothingElse) {
  const TemporaryFolder folder;
  folder.write("first.ini",
               "[kernel]\ndescription = d\nfamily = hopper\n[every]\njitter = 0.1; measured; n\n"
               "[d64-64x64]\nstep-ns = 500; measured; n\nitem-end-ns = 9; measured; n\n");
  const ProfileFile file = read_kernel_file(
      folder.write("second.ini",
                   "[kernel]\nbase = first\n[d64-64x64]\nstep-ns = 600; measured; n\n"
                   "[d64-32x64]\nstep-ns = 700; measured; n\n"));
  sim::KernelCost cost;
  set_kernel_cost(file, {64, {64, 64}, "hopper"}, cost);
  EXPECT_EQ(cost.step_ns, 600);
  EXPECT_EQ(cost.item_end_ns, 9);
  EXPECT_EQ(cost.jitter, 0.1);
  EXPECT_TRUE(has_costs_of(file, {64, {32, 64}, "hopper"}));
  EXPECT_EQ(file.sections[1].parameters[0].note, "first: n");
}

TEST(KernelFile, ABaseThatIsWrongOrNotThereIsRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    const std::string path = folder.write("mine.ini", text);
    return message_of<UsageError>([&] { read_kernel_file(path); });
  };
  EXPECT_THAT(refused("[kernel]\nbase = mine\n"), HasSubstr("bases form a circle"));
  EXPECT_THAT(refused("[kernel]\nbase = none\n"), HasSubstr("none.ini"));
  folder.write("other.ini", "[kernel]\n[every]\njitter = 2; measured; n\n");
  EXPECT_THAT(refused("[kernel]\nbase = other\n"), HasSubstr("other.ini:3: jitter"));
}

// An H100 is an H200 with another memory; how good models are on it is its own.
TEST(GpuFile, HasWhatItsBaseHasButForItsOwnJudgement) {
  const TemporaryFolder folder;
  folder.write("big.ini",
               "[gpu]\ndescription = Big\nsms = 10; assumed; n\nl2-bytes = 1MiB; assumed; n\n"
               "[judged]\nlockstep-lru = well; measured; n\n"
               "[intervals]\ntime_us = 1, 1, 1, 1, 0, 7; measured; n\n");
  const GpuFile gpu = read_gpu_file(
      folder.write("small.ini", "[gpu]\ndescription = Small\nbase = big\nsms = 8; assumed; n\n"));
  EXPECT_EQ(gpu.description, "Small");
  EXPECT_EQ(gpu.profile.name, "small");
  EXPECT_EQ(gpu.profile.sms, 8);
  EXPECT_EQ(gpu.profile.l2_bytes, 1 << 20);
  EXPECT_TRUE(gpu.judged.empty());
  EXPECT_EQ(gpu.intervals.size(), 1u);
}

TEST(KernelFile, NamesWhatIsWrong) {
  const auto kernel_message = [](const std::string& text) {
    return message(read_kernel_file, text);
  };
  EXPECT_EQ(kernel_message("[kernel]\n[d64]\n"),
            ":2: [d64] is no kernel; allowed: every, d>64, d128-128x64 and the like");
  EXPECT_THAT(kernel_message("[kernel]\n[every]\nkeep-step = 1; measured; n\n"),
              HasSubstr(":3: keep-step: '1' is not allowed; allowed: on, off"));
  EXPECT_EQ(kernel_message("[gpu]\n"), ":1: the first section, and it alone, is [kernel]");
}

TEST(RemovedOptions, AreRefusedByNameWithWhatToUseInstead) {
  for (const RemovedOption& option : removed_options) {
    Settings settings;
    const std::string name(option.name);
    EXPECT_EQ(message_of<UsageError>([&] {
                assign(settings, name, "1", {"c.ini", 3});
              }),
              "c.ini:3: " + name + ": was removed; " + std::string(option.instead));
  }
  EXPECT_THAT(gpu_message(head + "port-gb-per-s = 60; measured; n\n"),
              HasSubstr("port-gb-per-s: was removed; an SM's port has its share"));
}

TEST(ProfileText, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const ProfileFile file{"",
                         {{"description", "a kernel", "", ""}},
                         {{"kernel", {{"stages", "3", "measured", "first; second"}}},
                          {"every", {{"jitter", "0.1", "measured", "n"}}}}};
  const ProfileFile again = read_kernel_file(folder.write("d.ini", profile_text(file, "comment")));
  EXPECT_EQ(again.word("description"), "a kernel");
  ASSERT_EQ(again.sections.size(), 2u);
  EXPECT_EQ(again.sections[0].parameters.at(0).note, "first; second");
  EXPECT_EQ(again.sections[1].parameters.at(0).value, "0.1");
}

TEST(ShippedLayout, IsThatOfRecordedLaunches) {
  const sim::SmLayout shipped =
      read_gpu_file(SAWTOOTH_EXPERIMENTS_DIR "/profiles/gpus/h200.ini").profile.layout;
  const sim::SmLayout recorded = tests::recorded_layout();
  EXPECT_EQ(shipped.gpc_sms, recorded.gpc_sms);
  EXPECT_EQ(shipped.gpc_half, recorded.gpc_half);
  EXPECT_EQ(shipped.tpc_turns, recorded.tpc_turns);
  ASSERT_EQ(shipped.cta_order.size(), recorded.cta_order.size());
  for (size_t i = 0; i < recorded.cta_order.size(); ++i) {
    EXPECT_EQ(shipped.cta_order[i].gpc, recorded.cta_order[i].gpc);
    EXPECT_EQ(shipped.cta_order[i].first_tpc, recorded.cta_order[i].first_tpc);
    EXPECT_EQ(shipped.cta_order[i].tpcs, recorded.cta_order[i].tpcs);
  }
}

const IntervalWidth width{"time_us", {0.2, 0.3, 0.4, 0.5}, 0.03, 5};

TEST(IntervalWidth, OfOneLaunchIsAConstantOfTheKindOfPoint) {
  EXPECT_EQ(width.half_width({1}, PointKind::within), 0.2);
  EXPECT_EQ(width.half_width({1000}, PointKind::within), 0.2);
  EXPECT_EQ(width.half_width({1}, PointKind::in_step), 0.3);
  EXPECT_EQ(width.half_width({1}, PointKind::apart), 0.4);
  EXPECT_EQ(width.half_width({1}, PointKind::drifting), 0.5);
}

// Two values that are exp(0.08) apart have a standard deviation of 0.08 / sqrt(2) in the logarithm.
TEST(IntervalWidth, OfSeveralLaunchesGrowsWithTheirSpread) {
  for (const PointKind kind : {PointKind::within, PointKind::drifting}) {
    EXPECT_DOUBLE_EQ(width.half_width({7, 7}, kind), 5 * 0.03);
    EXPECT_NEAR(width.half_width({100, 100 * std::exp(0.08)}, kind),
                5 * std::sqrt(0.08 * 0.08 / 2 + 0.03 * 0.03), 1e-12);
    // Logarithms -a, 0 and a: a.
    EXPECT_NEAR(width.half_width({std::exp(-0.04), 1, std::exp(0.04)}, kind), 5 * 0.05, 1e-12);
  }
}

// Launches on one card agree, and cards differ.
TEST(IntervalWidth, OfATimeIsNoNarrowerForSeveralLaunches) {
  EXPECT_EQ(width.half_width_of_time({100}, 100), 0.2);
  EXPECT_EQ(width.half_width_of_time({100, 100}, 100), 0.2);
  EXPECT_EQ(width.half_width_of_time({500, 500}, 500), 0.3);
  EXPECT_NEAR(width.half_width_of_time({100, 100 * std::exp(0.8)}, 100),
              5 * std::sqrt(0.8 * 0.8 / 2 + 0.03 * 0.03), 1e-12);
}

}  // namespace
}  // namespace sawtooth::experiments
