// The presets resolve to what their sources publish, through their guarded sections.
#include <gtest/gtest.h>

#include "experiments/csv.hpp"
#include "experiments/point.hpp"
#include "sim/simulate.hpp"

namespace sawtooth::experiments {
namespace {

struct Case {
  const char* system;
  const char* gpu;
  const char* head_dim;
  const char* mask;
  const char* tile_q;
  const char* tile_kv;
  const char* launch;
  const char* q_order;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.system << " " << c.gpu << " D=" << c.head_dim << " " << c.mask;
}

class KnownSystem : public testing::TestWithParam<Case> {};

TEST_P(KnownSystem, HasThePublishedTilesAndOrder) {
  const Case& c = GetParam();
  Settings given;
  assign(given, "system", c.system, {});
  assign(given, "gpu", c.gpu, {});
  assign(given, "head-dim", c.head_dim, {});
  assign(given, "mask", c.mask, {});
  assign(given, "seq", "16K", {});
  Catalog catalog;
  const Point point = resolve(given, catalog);
  EXPECT_EQ(point.text("tile-q"), c.tile_q);
  EXPECT_EQ(point.text("tile-kv"), c.tile_kv);
  EXPECT_EQ(point.text("launch"), c.launch);
  EXPECT_EQ(point.text("q-order"), c.q_order);
  EXPECT_EQ(point.text("lse"), "on");
}

// flash_fwd_launch_template.h, run_mha_fwd_hdim*: 128x128 up to 64; 128x64 above; 64x64 at 256 on
// Hopper so that two CTAs fit an SM, 128x64 on an A100; 128x32 and 64x64 on compute capability 8.9.
INSTANTIATE_TEST_SUITE_P(
    FlashAttention2, KnownSystem,
    testing::Values(
        Case{"flash-attention-2", "h200", "64", "none", "128", "128", "grid", "ascending"},
        Case{"flash-attention-2", "h200", "128", "causal", "128", "64", "grid", "ascending"},
        Case{"flash-attention-2", "h200", "256", "none", "64", "64", "grid", "ascending"},
        Case{"flash-attention-2", "a100-sxm-40gb", "256", "none", "128", "64", "grid", "ascending"},
        Case{"flash-attention-2", "l40", "128", "none", "128", "32", "grid", "ascending"},
        Case{"flash-attention-2", "l40", "128", "causal", "64", "64", "grid", "ascending"}));

// tile_size_fwd_sm90 and the two schedulers of tile_scheduler.hpp.
INSTANTIATE_TEST_SUITE_P(
    FlashAttention3, KnownSystem,
    testing::Values(
        Case{"flash-attention-3", "h200", "64", "causal", "192", "128", "dynamic", "descending"},
        Case{"flash-attention-3", "h200", "128", "none", "128", "176", "static", "ascending"},
        Case{"flash-attention-3", "h200", "128", "causal", "128", "128", "dynamic", "descending"},
        Case{"flash-attention-3", "h200", "256", "causal", "128", "80", "dynamic", "descending"},
        Case{"flash-attention-3", "h200", "256", "window:1024", "128", "64", "dynamic",
             "descending"}));

// run_fwd_64 and run_fwd_128 of 88_hopper_fmha.cu, ping-pong; run_fwd_256 has cooperative only.
INSTANTIATE_TEST_SUITE_P(
    Cutlass88, KnownSystem,
    testing::Values(Case{"cutlass-88", "h200", "64", "none", "128", "64", "static", "ascending"},
                    Case{"cutlass-88", "h200", "128", "causal", "128", "128", "static",
                         "ascending"},
                    Case{"cutlass-88", "h200", "256", "none", "128", "64", "grid", "ascending"}));

TEST(KnownSystems, AreTimedOnTheGpuThatIsCalibratedAndNowhereElse) {
  for (const char* system :
       {"flash-attention-2", "flash-attention-3", "cudnn", "triton-tutorial", "cutlass-88"}) {
    Catalog catalog;
    Settings given;
    assign(given, "system", system, {});
    assign(given, "gpu", "h200", {});
    assign(given, "seq", "16K", {});
    const Point here = resolve(given, catalog);
    EXPECT_EQ(here.text("timing") + " " + here.text("l2"), "timed halves") << system;
    assign(given, "timing", "lockstep", {});
    EXPECT_EQ(resolve(given, catalog).text("timing"), "lockstep") << system;
    given.erase("timing");
    given.erase("gpu");
    assign(given, "gpu", "gb10", {});
    EXPECT_EQ(resolve(given, catalog).text("timing"), "lockstep") << system;
  }
}

// What SMs read depends on the tiles alone: Q once, and K and V once a Q tile that sees them. It
// was counted on an H200 (experiments/measured/h200/peers), and the presets have it to a
// thousandth.
TEST(KnownSystems, TilesExplainWhatSmsWereMeasuredToRead) {
  const CsvTable measured =
      read_csv(std::string(SAWTOOTH_EXPERIMENTS_DIR) + "/measured/h200/peers/peers.csv");
  const auto cell = [&](const CsvRow& row, std::string_view name) {
    return row[measured.column(name).value()];
  };
  constexpr int64_t longest = 32 * 1024;  // longer ones take longer and say the same
  Catalog catalog;
  int rows = 0;
  for (const CsvRow& row : measured.rows) {
    if (cell(row, "sm_read_sectors").empty() || std::stoll(cell(row, "seq_q")) > longest) continue;
    Settings given;
    for (const char* key : {"system", "gpu", "mask"}) assign(given, key, cell(row, key), {});
    assign(given, "head-dim", cell(row, "head_dim"), {});
    assign(given, "seq", cell(row, "seq_q"), {});
    assign(given, "timing", "lockstep", {});
    const Point point = resolve(given, catalog);
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
