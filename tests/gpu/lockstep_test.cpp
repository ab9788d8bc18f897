#include "kernels/stream/lockstep.hpp"

#include <gtest/gtest.h>

#include "cupti/metric_table.hpp"
#include "kernels/stream/l2_state.hpp"
#include "scheduler/memory_units.hpp"
#include "tests/gpu/counters_available.hpp"

namespace sawtooth::kernels {
namespace {

constexpr int64_t buffer_bytes = int64_t{64} << 20;

struct Bench {
  SmRanks sms;
  L2State l2;
  L2HalfMap map = map_l2_halves(sms, l2);
  DeviceBuffer buffer{buffer_bytes};
  cupti::RangeProfiler profiler;

  Bench() { SAWTOOTH_CUDA_CHECK(cudaMemset(buffer.as<>(), 0, buffer_bytes)); }

  int64_t dram_reads(const LockstepPattern& pattern, const LockstepPlace& place) {
    LockstepReads reads(sms, map);
    const LockstepOrder order = lockstep_order(pattern, reads.per_half());
    const DeviceBuffer table = LockstepReads::upload(order);
    const std::string dram(
        cupti::metric_for(profiler.chip(), cupti::L2Counter::fill_device).metric);
    const cupti::Reading reading =
        profiler.measure(profiler.plan({dram}), [this] { l2.flush(); },
                         {{"read", [&] { reads.launch(pattern, table, order.steps(), place); }}});
    reads.check();
    return reading.ranges[0].count(dram).value() - order.table_sectors();
  }
};

class LockstepOnGpu : public CountersOnGpu<Bench> {};

// 8 MiB fit into every half: each tile comes from memory once, however often it is read, by both
// kinds of loads and at both kinds of places.
TEST_F(LockstepOnGpu, ARingThatFitsIsReadFromMemoryOnce) {
  Bench& b = shared();
  if (b.map.halves != 2) GTEST_SKIP() << "L2 of this GPU has one part";
  const char* const data = b.buffer.as<char>();
  const double sectors = double(int64_t{8} << 20) / double(sector_bytes);
  for (const LockstepAccess access : {LockstepAccess::ld, LockstepAccess::cp_async}) {
    for (const LockstepPlace& place :
         {LockstepPlace::together(data), LockstepPlace::apart(data, data + buffer_bytes / 2)}) {
      const int64_t read =
          b.dram_reads({.mib = 8, .lanes = 4, .access = access, .steps = 600}, place);
      EXPECT_NEAR(double(read) / sectors, 1, 0.01);
    }
  }
}

// Whoever follows at 4 MiB finds what was read; at 48 MiB, more than a half holds, nothing is left.
TEST_F(LockstepOnGpu, AFollowerFindsWhatIsNearAndNothingThatIsFar) {
  Bench& b = shared();
  if (b.map.halves != 2) GTEST_SKIP() << "L2 of this GPU has one part";
  if (b.l2.l2_bytes() > 2 * (int64_t{48} << 20)) GTEST_SKIP() << "L2 holds 48 MiB in a half";
  LockstepPattern pattern{
      .family = LockstepFamily::follow, .mib = 60, .lanes = 4, .distance_mib = 4, .steps = 480};
  const double sectors = double(int64_t{60} << 20) / double(sector_bytes);
  const LockstepPlace place = LockstepPlace::together(b.buffer.as<char>());
  EXPECT_NEAR(double(b.dram_reads(pattern, place)) / sectors, 1, 0.01);
  pattern.distance_mib = 48;
  EXPECT_NEAR(double(b.dram_reads(pattern, place)) / sectors, 1 + 12.0 / 60, 0.02);
}

}  // namespace
}  // namespace sawtooth::kernels
