// The presets resolve to what their sources publish, through their guarded sections.
#include <gtest/gtest.h>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "tests/experiments/sawtooth/inputs/given.hpp"

namespace sawtooth::experiments {
namespace {

using test::Options;
using test::point_of;
using test::refusal_of;

struct Case {
  const char* system;
  const char* gpu;
  const char* head_dim;
  const char* mask;
  std::string schedule;  // tile, launch and order of Q
};

TEST(KnownSystem, HasThePublishedTilesAndOrder) {
  const Case cases[] = {
      // FlashAttention-3's tile_size_fwd_sm90 of V up to 128 columns; FlashMLA's dense_decode.h.
      {"mla-prefill", "h200", "192/128", "causal", "128x128 dynamic descending"},
      {"mla-decode", "h200", "576/512", "none", "64x64 static ascending"},
      // flash_fwd_launch_template.h, run_mha_fwd_hdim*: 128x128 up to 64; 128x64 above; 64x64 at
      // 256 on Hopper so that two CTAs fit an SM, 128x64 on an A100; 128x32 and 64x64 on 8.9.
      {"flash-attention-2", "h200", "64", "none", "128x128 grid ascending"},
      {"flash-attention-2", "h200", "128", "causal", "128x64 grid ascending"},
      {"flash-attention-2", "h200", "256", "none", "64x64 grid ascending"},
      {"flash-attention-2", "a100-sxm-40gb", "256", "none", "128x64 grid ascending"},
      {"flash-attention-2", "l40", "128", "none", "128x32 grid ascending"},
      {"flash-attention-2", "l40", "128", "causal", "64x64 grid ascending"},
      // tile_size_fwd_sm90 and the two schedulers of tile_scheduler.hpp.
      {"flash-attention-3", "h200", "64", "causal", "192x128 dynamic descending"},
      {"flash-attention-3", "h200", "128", "none", "128x176 static ascending"},
      {"flash-attention-3", "h200", "128", "causal", "128x128 dynamic descending"},
      {"flash-attention-3", "h200", "256", "causal", "128x80 dynamic descending"},
      {"flash-attention-3", "h200", "256", "window:1024", "128x64 dynamic descending"},
      // run_fwd_64 and run_fwd_128 of 88_hopper_fmha.cu, ping-pong; run_fwd_256 is cooperative.
      {"cutlass-88", "h200", "64", "none", "128x64 static ascending"},
      {"cutlass-88", "h200", "128", "causal", "128x128 static ascending"},
      {"cutlass-88", "h200", "256", "none", "128x64 grid ascending"},
      // flash_bwd_launch_template.h of csrc/flash_attn/src, run_mha_bwd_hdim*, and of hopper/, with
      // SingleTileBwdLPTScheduler, whose deterministic mode takes the shortest causal items first.
      {"flash-attention-2-backward", "h200", "64", "none", "128x128 grid ascending"},
      {"flash-attention-2-backward", "h200", "128", "causal", "64x128 grid ascending"},
      {"flash-attention-2-backward", "h200", "256", "none", "64x64 grid ascending"},
      {"flash-attention-3-backward", "h200", "64", "causal", "128x128 grid ascending"},
      {"flash-attention-3-backward", "h200", "128", "none", "80x128 grid ascending"},
      {"flash-attention-3-backward", "h200", "128", "causal", "64x128 grid ascending"},
      {"flash-attention-3-backward", "h200", "256", "none", "64x80 grid ascending"},
      {"flash-attention-3-deterministic", "h200", "128", "causal", "64x128 grid descending"}};
  for (const auto& [system, gpu, head_dim, mask, schedule] : cases) {
    const Point point = point_of(
        {{"system", system}, {"gpu", gpu}, {"head-dim", head_dim}, {"mask", mask}, {"seq", "16K"}});
    EXPECT_EQ(point.text("tile-q") + "x" + point.text("tile-kv") + " " + point.text("launch") +
                  " " + point.text("q-order"),
              schedule)
        << system << " " << gpu << " D=" << head_dim << " " << mask;
    EXPECT_EQ(point.text("lse"), point.text("pass") == "forward" ? "on" : "off") << system;
  }
}

TEST(KnownSystems, AreTimedOnTheGpuThatIsCalibratedAndNowhereElse) {
  for (const char* system :
       {"flash-attention-2", "flash-attention-3", "cudnn", "triton-tutorial", "cutlass-88"}) {
    const Options usual{{"system", system}, {"gpu", "h200"}, {"seq", "16K"}};
    const Point here = point_of({}, usual);
    EXPECT_EQ(here.text("timing") + " " + here.text("l2"), "timed halves") << system;
    EXPECT_EQ(point_of({{"timing", "lockstep"}}, usual).text("timing"), "lockstep") << system;
    EXPECT_EQ(point_of({{"gpu", "gb10"}}, usual).text("timing"), "lockstep") << system;
  }
}

sim::Prediction predicted(Catalog& catalog, const std::string& keys) {
  const Point point = resolve(expand(parse_configuration(keys, "test"), {}).front(), catalog);
  return predict(point.request, point.gpu, *point.keys.l2);
}

// TiledAttention's benchmark-gb10 (lists/published.csv of the prediction study): medians of 12
// launches take 1089 to 1132 us, with a causal mask 586 to 612 us, one CTA an SM by shared memory.
TEST(KnownSystems, FlashAttention2TakesItsPublishedTimesOnAGb10) {
  Catalog catalog;
  const std::string keys =
      "gpu = gb10\nsystem = flash-attention-2\nheads = 8\nseq = 4K\nhead-dim = 128\ndtype = fp16\n"
      "timing = timed\n";
  EXPECT_NEAR(*predicted(catalog, keys).time_us, 1110, 0.15 * 1110);
  EXPECT_NEAR(*predicted(catalog, keys + "mask = causal\n").time_us, 599, 0.15 * 599);
}

// (T528 - T264) / 2 / steps of the durations in experiments/data/h200/peers/speed.csv: the
// preset's step is the kernel's, within the 2 % that medians of such launches move.
TEST(KnownSystems, StepsAreAsLongAsDurationsOfLaunchesThatFitL2Say) {
  struct Timed {
    const char* system;
    const char* peer;
    const char* head_dim;
    int fewer, more;  // heads of 132 items
    double rounds;    // of one item a CTA slot between the two
    double ctas_a_sm;
  };
  const CsvTable durations =
      read_csv(std::string(SAWTOOTH_EXPERIMENTS_DIR) + "/data/h200/peers/speed.csv");
  const auto median_us = [&](const Timed& timed, int heads) {
    std::vector<double> times;
    for (const CsvRow& row : durations.rows) {
      const auto is = [&](const char* column, const std::string& value) {
        return row[durations.column(column).value()] == value;
      };
      if (is("peer", timed.peer) && is("head_dim", timed.head_dim) && is("seq", "16896") &&
          is("heads", std::to_string(heads))) {
        times.push_back(std::stod(row[durations.column("us").value()]));
      }
    }
    return median_of(times);
  };
  for (const Timed& timed : {Timed{"flash-attention-2", "sdpa-flash", "64", 2, 4, 1, 2},
                             Timed{"flash-attention-2", "sdpa-flash", "128", 2, 4, 1, 2},
                             Timed{"triton-tutorial", "triton", "64", 2, 4, 1, 2},
                             Timed{"triton-tutorial", "triton", "128", 1, 3, 2, 1},
                             Timed{"cudnn", "sdpa-cudnn", "64", 1, 4, 3, 1},
                             Timed{"cudnn", "sdpa-cudnn", "128", 1, 4, 3, 1}}) {
    const Point point =
        point_of({{"system", timed.system}, {"head-dim", timed.head_dim}, {"seq", "16896"}});
    const auto steps = static_cast<double>(16896 / point.request.tiling.kv_rows);
    const double ns = (median_us(timed, timed.more) - median_us(timed, timed.fewer)) * 1000;
    const double step_ns = ns / timed.rounds / timed.ctas_a_sm / steps;
    ASSERT_TRUE(point.request.kernel.step_ns);
    EXPECT_NEAR(*point.request.kernel.step_ns, step_ns, 0.02 * step_ns)
        << timed.system << " D=" << timed.head_dim;
  }
}

TEST(KnownSystems, ASpeedOfOnesOwnIsSaidInTheModelAndNeedsTime) {
  const Options usual{{"system", "cudnn"}, {"gpu", "h200"}, {"seq", "16K"}};
  EXPECT_EQ(point_of({}, usual).costs, "");
  const Point faster = point_of({{"step-ns", "900"}}, usual);
  EXPECT_EQ(faster.request.kernel.step_ns, 900);
  EXPECT_EQ(faster.costs, "step-ns=900");
  EXPECT_NE(refusal_of({{"step-ns", "900"}, {"timing", "lockstep"}}, usual), "");
}

// What SMs read depends on the tiles alone: Q once, and K and V once a Q tile that sees them. It
// was counted on an H200 (experiments/data/h200/peers), and the presets have it to a
// thousandth.
TEST(KnownSystems, TilesExplainWhatSmsWereMeasuredToRead) {
  const CsvTable measured =
      read_csv(std::string(SAWTOOTH_EXPERIMENTS_DIR) + "/data/h200/peers/peers.csv");
  const auto cell = [&](const CsvRow& row, std::string_view name) {
    return row[measured.column(name).value()];
  };
  constexpr int64_t longest = 32 * 1024;  // longer ones take longer and say the same
  int rows = 0;
  for (const CsvRow& row : measured.rows) {
    if (cell(row, "sm_read_sectors").empty() || std::stoll(cell(row, "seq_q")) > longest) continue;
    Options options{
        {"head-dim", cell(row, "head_dim")}, {"seq", cell(row, "seq_q")}, {"timing", "lockstep"}};
    for (const char* key : {"system", "gpu", "mask"}) options.emplace_back(key, cell(row, key));
    const Point point = point_of(options);
    const double read = std::stod(cell(row, "sm_read_sectors"));
    EXPECT_NEAR(static_cast<double>(sim::simulate_lru(point.request).total.sm_read_sectors.value()),
                read, read / 1000)
        << cell(row, "system") << " S=" << cell(row, "seq_q") << " D=" << cell(row, "head_dim")
        << " " << cell(row, "mask");
    ++rows;
  }
  EXPECT_EQ(rows, 3 * 2 * 2 * 2 * 3);  // systems, lengths, head dims, masks, launches
}

}  // namespace
}  // namespace sawtooth::experiments
