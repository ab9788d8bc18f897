// Ring attention: one rank is the plain launch, sums are those of the whole problem, and counts are
// those of an L2 that is replayed line by line with the tiles that come in.
#include "sim/ring/simulate_ring.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/wavefront.hpp"
#include "sim/timed/simulate_timed.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

constexpr double step_ns = 1000;
constexpr int64_t row_bytes = 128;  // of 64 elements: a line

Gpu gpu_of(int64_t sms) {
  Gpu gpu;
  gpu.name = "test";
  gpu.sms = sms;
  gpu.l2_halves = 2;
  gpu.latency_near_ns = 10;
  gpu.latency_far_ns = 20;
  gpu.latency_dram_ns = 50;
  return gpu;
}

/// A ring of tiles of `tile` rows, `tiles` of them a chunk.
RingRequest ring_of(int64_t ranks, RingLayout layout, MaskKind mask, int64_t tile, int64_t tiles) {
  RingRequest ring;
  ring.ring = {ranks, layout, mask, 0};
  ring.ring.seq = ring.ring.chunks() * tile * tiles;
  Request& request = ring.request;
  request.problem = {.seq_q = ring.ring.seq, .seq_kv = ring.ring.seq, .head_dim = 64};
  request.problem.mask.kind = mask;
  request.tiling = {tile, tile};
  request.schedule.workers = 2;
  request.kernel.fixed_ns = step_ns;
  request.l2_bytes = int64_t{1} << 20;
  ring.link = {{1, 100}};
  return ring;
}

RingRequest any_ring() {
  const auto layout = static_cast<RingLayout>(tests::between(0, 1));
  const MaskKind mask = tests::between(0, 1) == 1 ? MaskKind::causal : MaskKind::none;
  RingRequest ring =
      ring_of(tests::between(1, 5), layout, mask, tests::between(1, 3), tests::between(1, 3));
  Request& request = ring.request;
  request.problem.batch = tests::between(1, 2);
  request.problem.kv_heads = tests::between(1, 2);
  request.problem.heads = request.problem.kv_heads * tests::between(1, 2);
  request.schedule = tests::any_schedule(request.problem);
  request.schedule.loop = Loop::kv_inner;
  request.schedule.kv_split = 1;
  request.schedule.order.section =
      min_of(request.schedule.order.section, request.problem.batch * request.problem.heads);
  request.l2_bytes = tests::between(2, 200) * line_bytes;
  // From transfers that are hidden to ones that last several calls.
  ring.link = {{1, 0.001 * double(tests::between(1, 400))}};
  ring.copier = tests::between(0, 2) == 0 ? Copier::sms : Copier::copy_engine;
  return ring;
}

void expect_equal(const Counters& one, const Counters& other, bool dram_writes) {
  for (const CounterColumn& column : counter_columns) {
    if (!dram_writes && column.name == "dram_write_sectors") continue;
    RC_ASSERT((one.*column.member).value_or(-1) == (other.*column.member).value_or(-1));
  }
}

RC_GTEST_PROP(SimulateRing, OfOneGpuIsThePlainLaunch, ()) {
  RingRequest ring = any_ring();
  ring.ring.ranks = 1;
  ring.ring.seq = ring.request.problem.seq_q;
  const Gpu gpu = gpu_of(tests::between(1, 4));
  const auto total = [&] { return simulate_rank(ring, gpu, 0).front().total; };
  expect_equal(total(), simulate_lru(ring.request).total, false);
  ring.halves = true;
  const HalvesModel model = halves_model(ring.request, gpu);
  expect_equal(total(), simulate_halves(ring.request, model.l2, model.coalescer).total, true);
  ring.request.timing = Timing::timed;
  const Prediction timed = simulate_timed(ring.request, timed_parameters(ring.request, gpu, true));
  const RingStep step = simulate_rank(ring, gpu, 0).front();
  expect_equal(step.total, timed.total, true);
  RC_ASSERT(*step.time_us == *timed.time_us);
  RC_ASSERT(*step.exposed_us == 0);
}

/// Sums over GPUs and steps.
std::array<Counters, tensor_count> sums_of(const RingRequest& ring, const Gpu& gpu) {
  std::array<Counters, tensor_count> sums;
  for (int64_t rank = 0; rank < ring.ring.ranks; ++rank)
    for (const RingStep& step : simulate_rank(ring, gpu, rank))
      for (size_t t = 0; t < sums.size(); ++t) add(sums[t], step.by_tensor[t]);
  return sums;
}

RC_GTEST_PROP(SimulateRing, ReadsKAndVAsOftenAsOneGpuDoes, ()) {
  RingRequest ring = any_ring();
  ring.request.schedule.prefetch = 0;
  const Gpu gpu = gpu_of(2);
  const Prediction alone = simulate_lru(ring.request);
  const auto sums = sums_of(ring, gpu);
  for (const Tensor tensor : {Tensor::k, Tensor::v}) {
    const auto t = static_cast<size_t>(tensor);
    RC_ASSERT(*sums[t].sm_read_sectors == *alone.by_tensor[t].sm_read_sectors);
  }
}

RC_GTEST_PROP(SimulateRing, BringsEachKAndVToEveryOtherGpuOnce, ()) {
  const RingRequest ring = any_ring();
  const Problem& problem = ring.request.problem;
  const int64_t sectors =
      problem.batch * problem.kv_heads * ring.ring.seq * row_bytes / sector_bytes;
  const auto sums = sums_of(ring, gpu_of(2));
  for (const Tensor tensor : {Tensor::k, Tensor::v}) {
    const Counters& counters = sums[static_cast<size_t>(tensor)];
    RC_ASSERT(counters.incoming_write_sectors.value_or(0) == (ring.ring.ranks - 1) * sectors);
    RC_ASSERT(counters.outgoing_read_sectors.value_or(0) == (ring.ring.ranks - 1) * sectors);
  }
}

// Without a mask each row's sum is written in every step and read in all but the first; O is
// written in the last one.
TEST(SimulateRing, AddsUpResultsInFloat) {
  const RingRequest ring = ring_of(3, RingLayout::plain, MaskKind::none, 2, 2);
  const auto sums = sums_of(ring, gpu_of(2));
  const int64_t o = ring.ring.seq * row_bytes / sector_bytes;
  const auto of = [&](Tensor tensor) { return sums[static_cast<size_t>(tensor)]; };
  EXPECT_EQ(of(Tensor::o).l2_write_sectors, o);
  EXPECT_EQ(of(Tensor::running_o).l2_write_sectors, 3 * 2 * o);
  EXPECT_EQ(of(Tensor::running_o).l2_read_sectors, 2 * 2 * o);
  const int64_t lse = ring.ring.seq / 2;  // a sector a tile of two rows
  EXPECT_EQ(of(Tensor::running_lse).l2_write_sectors, 3 * lse);
  EXPECT_EQ(of(Tensor::running_lse).l2_read_sectors, 2 * lse);
}

// What a copy engine brings is in DRAM, and each step reads it from there; SMs bring it through L2.
TEST(SimulateRing, ReadsFromDramWhatACopyEngineBrings) {
  RingRequest ring = ring_of(3, RingLayout::plain, MaskKind::none, 2, 2);
  const int64_t keys = ring.ring.rank_rows() * row_bytes / sector_bytes;
  for (const Copier copier : {Copier::copy_engine, Copier::sms}) {
    ring.copier = copier;
    const std::vector<RingStep> steps = simulate_rank(ring, gpu_of(2), 0);
    for (size_t step = 0; step < 3; ++step) {
      const Counters& k = steps[step].by_tensor[size_t(Tensor::k)];
      const bool from_dram = step == 0 || copier == Copier::copy_engine;
      EXPECT_EQ(k.cold_read_sectors, from_dram ? keys : 0);
      EXPECT_EQ(k.l2_read_miss_sectors, from_dram ? keys : 0);
      if (copier == Copier::copy_engine)
        EXPECT_EQ(k.dram_write_sectors, k.incoming_write_sectors);
      else
        EXPECT_EQ(k.dram_write_sectors, 0);
    }
  }
}

/// One rank's rows as lines of memory: which line a tile of a call begins with.
class RankLines {
 public:
  explicit RankLines(const RingRequest& ring)
      : rows_(ring.ring.rank_rows()),
        tile_(ring.request.tiling.q_rows),
        kv_heads_(ring.request.problem.batch * ring.request.problem.kv_heads),
        heads_(ring.request.problem.batch * ring.request.problem.heads) {}

  int64_t lines(Tensor tensor) const {
    if (tensor == Tensor::running_lse) return 1;
    return tensor == Tensor::running_o ? 2 * tile_ : tile_;
  }
  int64_t sectors(Tensor tensor) const {
    return tensor == Tensor::running_lse ? (4 * tile_ + sector_bytes - 1) / sector_bytes
                                         : lines(tensor) * sectors_per_line;
  }
  /// `head` counts buffers too, of K and V.
  int64_t first(Tensor tensor, int64_t head, int64_t tile) const {
    const int64_t all = 3 * kv_heads_ + heads_;  // more heads than any tensor has
    return ((static_cast<int64_t>(tensor) * all + head) * (rows_ / tile_) + tile) * 2 * tile_;
  }
  /// The tile of `line` has this number among all tiles of all tensors.
  int64_t tile_of(int64_t line) const { return line / (2 * tile_); }

 private:
  int64_t rows_, tile_, kv_heads_, heads_;
};

/// A whole L2 of lines, the most recent one first. Copy engines take lines out of it: with them the
/// model no longer follows single lines, and a tile of which one is driven out leaves whole.
struct LineL2 {
  int64_t capacity = 0;
  bool tiles_leave_whole = false;
  std::vector<int64_t> lines{};
  int64_t read_misses = 0, write_misses = 0, incoming = 0;  // sectors

  bool holds(int64_t line) const {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }
  void access(const RankLines& memory, Tensor tensor, int64_t head, int64_t tile, int64_t& misses) {
    int64_t left = memory.sectors(tensor);
    for (int64_t i = 0; i < memory.lines(tensor); ++i, left -= sectors_per_line) {
      const int64_t line = memory.first(tensor, head, tile) + i;
      if (!holds(line)) misses += min_of(left, sectors_per_line);
      std::erase(lines, line);
      lines.insert(lines.begin(), line);
      if (!tiles_leave_whole && std::ssize(lines) > capacity) lines.pop_back();
    }
    while (std::ssize(lines) > capacity)
      std::erase_if(lines, [&, last = memory.tile_of(lines.back())](int64_t line) {
        return memory.tile_of(line) == last;
      });
  }
  void remove(const RankLines& memory, Tensor tensor, int64_t head, int64_t tile) {
    for (int64_t i = 0; i < memory.lines(tensor); ++i)
      std::erase(lines, memory.first(tensor, head, tile) + i);
  }
  int64_t missing(const RankLines& memory, Tensor tensor, int64_t head, int64_t tile) const {
    int64_t sectors = 0;
    for (int64_t i = 0; i < memory.lines(tensor); ++i)
      if (!holds(memory.first(tensor, head, tile) + i)) sectors += sectors_per_line;
    return sectors;
  }
};

/// The touches of one call, between which tiles come in.
class CallOnLines : public WavefrontSink {
 public:
  CallOnLines(const RingRequest& ring, const RingCall& call, int64_t buffer, LiveAtoms& atoms,
              LineL2& l2, std::function<void(int64_t)> come_in)
      : memory_(ring), l2_(l2), come_in_(std::move(come_in)) {
    const Problem& problem = ring.request.problem;
    const int64_t tile = ring.request.tiling.q_rows;
    for (const Tensor tensor :
         {Tensor::q, Tensor::k, Tensor::v, Tensor::o, Tensor::running_o, Tensor::running_lse}) {
      const bool keys = has_key_rows(tensor);
      const Range rows = keys ? call.kv_rows : call.q_rows;
      const int64_t heads = problem.batch * (keys ? problem.kv_heads : problem.heads);
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t t = 0; t < rows.size() / tile; ++t)
          places_[atoms.id(tensor, head, t)] = {
              tensor, head + (keys ? buffer * problem.batch * problem.kv_heads : 0),
              t + rows.begin / tile};
    }
  }

  void begin_step(int64_t step) { come_in_(step); }
  void touch(int64_t, AtomId atom, Access access) {
    const auto at = places_.find(atom);
    if (at == places_.end()) return;  // pieces, which no call of this test has
    const auto& [tensor, head, tile] = at->second;
    l2_.access(memory_, tensor, head, tile,
               access == Access::write ? l2_.write_misses : l2_.read_misses);
  }

 private:
  struct Place {
    Tensor tensor;
    int64_t head, tile;
  };
  RankLines memory_;
  LineL2& l2_;
  std::function<void(int64_t)> come_in_;
  std::map<AtomId, Place> places_;
};

// Replays a rank of copies by hand: transfer s begins when transfer s - 1 has ended and the call of
// step s - 2 has read its buffer, or where SMs copy that of step s - 1 has left them free. Its i-th
// of n tiles, all K before all V, is there at (i + 1) / n of its time. A call is launched when the
// one before has ended and its K and V are there.
RC_GTEST_PROP(SimulateRing, CountsWhatLinesThatComeInCount, ()) {
  RingRequest ring = any_ring();
  const bool by_sms = ring.copier == Copier::sms;
  Request& request = ring.request;
  request.schedule.prefetch = 0;
  if (request.schedule.launch == launch_id<BalancedLaunch>)
    request.schedule.launch = launch_id<StaticLaunch>;
  RC_PRE(ring.ring.ranks > 1);
  const int64_t sms = request.schedule.workers;
  const int64_t ranks = ring.ring.ranks, rank = tests::between(0, ranks - 1);
  const Problem& problem = request.problem;
  const int64_t kv_heads = problem.batch * problem.kv_heads;
  const int64_t kv_tiles = ring.ring.rank_rows() / request.tiling.kv_rows;
  const int64_t tiles = 2 * kv_heads * kv_tiles;
  const double one_ns =
      2 * double(kv_heads * ring.ring.rank_rows() * row_bytes) / ring.link.front().gb_per_s;

  LineL2 l2{.capacity = request.l2_bytes / line_bytes, .tiles_leave_whole = !by_sms};
  const RankLines memory(ring);
  std::vector<double> begins(size_t(ranks), 0), ends(size_t(ranks), 0), call_ends(size_t(ranks), 0);
  int64_t next = 1, tile = 0, planned = 1;
  const auto buffer = [](int64_t step) { return step == 0 ? 0 : step % 2 == 1 ? 1 : 2; };
  const auto come_in = [&](double now_ns) {
    for (; next < planned; ++next, tile = 0)
      for (; tile < tiles; ++tile) {
        const double there =
            std::lerp(begins[size_t(next)], ends[size_t(next)], double(tile + 1) / double(tiles));
        if (there > now_ns) return;
        const Tensor tensor = tile < tiles / 2 ? Tensor::k : Tensor::v;
        const int64_t head = tile / kv_tiles % kv_heads;
        const int64_t to_head = buffer(next) * kv_heads + head, at = tile % kv_tiles;
        int64_t not_counted = 0;
        if (by_sms) {
          l2.access(memory, tensor, to_head, at, not_counted);
          l2.access(memory, tensor, head, at, l2.read_misses);
        } else {  // lines that come leave L2, lines that go are looked for
          l2.remove(memory, tensor, to_head, at);
          l2.read_misses += l2.missing(memory, tensor, head, at);
        }
        l2.incoming += memory.sectors(tensor);
      }
  };
  const std::vector<RingStep> steps = simulate_rank(ring, gpu_of(sms), rank);
  double now_ns = 0;
  for (int64_t step = 0; step < ranks; ++step) {
    for (; planned < ranks && planned <= (by_sms ? step : std::max<int64_t>(2, step + 1));
         ++planned) {
      const int64_t call = planned - (by_sms ? 1 : 2);  // it leaves a buffer or SMs free
      const double free_ns = call >= 0 ? call_ends[size_t(call)] : 0;
      begins[size_t(planned)] = std::max(ends[size_t(planned - 1)], free_ns);
      ends[size_t(planned)] = begins[size_t(planned)] + one_ns;
    }
    const double begin_ns = std::max(now_ns, ends[size_t(step)]);
    const LineL2 before = l2;
    come_in(begin_ns);
    now_ns = begin_ns;
    RingCall call;
    if (ring.ring.call_of(rank, step, call)) {
      Request of_call = step_request(ring, rank, step);
      of_call.key_parts.exist = true;
      LiveAtoms atoms(of_call);
      CallOnLines lines(ring, call, buffer(step), atoms, l2,
                        [&](int64_t at) { come_in(begin_ns + double(at) * step_ns); });
      LockstepWavefront<CallOnLines, LiveAtoms> wavefront(of_call, atoms, lines);
      wavefront.run();
      now_ns = begin_ns + double(wavefront.steps()) * step_ns;
    }
    call_ends[size_t(step)] = now_ns;
    const Counters& counted = steps[size_t(step)].total;
    RC_ASSERT(counted.dram_read_sectors.value_or(0) == l2.read_misses - before.read_misses);
    RC_ASSERT(counted.l2_write_miss_sectors.value_or(0) == l2.write_misses - before.write_misses);
    RC_ASSERT(counted.incoming_write_sectors.value_or(0) == l2.incoming - before.incoming);
  }
}

// Two steps of 1000 ns each call; a transfer of 5000 ns is exposed for 3000 ns, one of 1000 ns is
// not. By NCCL either comes behind the call.
TEST(SimulateRing, WaitsForKeysThatComeLate) {
  RingRequest ring = ring_of(2, RingLayout::plain, MaskKind::none, 2, 2);
  ring.request.timing = Timing::timed;
  ring.request.without = MechanismSet{static_cast<uint32_t>(Mechanism::latency)};
  const double bytes = 2 * 4 * row_bytes;  // K and V of four rows
  const auto second = [&](double transfer_ns, Copier copier) {
    ring.link = {{1, bytes / transfer_ns}};
    ring.copier = copier;
    return simulate_rank(ring, gpu_of(2), 0)[1];
  };
  EXPECT_NEAR(*second(5000, Copier::copy_engine).exposed_us, 3, 1e-9);
  EXPECT_NEAR(*second(1000, Copier::copy_engine).exposed_us, 0, 1e-9);
  const RingStep behind = second(1000, Copier::sms);
  EXPECT_NEAR(*behind.exposed_us, 1, 1e-9);
  EXPECT_NEAR(*behind.time_us, 2, 1e-9);
  EXPECT_NEAR(behind.transfer_us, 1, 1e-9);
}

// K and V of either call come from DRAM. What the first one left of its results lies in L2, 10 ns
// away, and the second one's items wait for it at their end.
TEST(SimulateRing, WaitsForEarlierResultsAtAnItemsEnd) {
  RingRequest ring = ring_of(2, RingLayout::plain, MaskKind::none, 2, 2);
  ring.request.timing = Timing::timed;
  const std::vector<RingStep> steps = simulate_rank(ring, gpu_of(2), 0);
  EXPECT_NEAR(*steps[1].time_us - *steps[0].time_us, 0.01, 1e-9);
  ring.request.without = MechanismSet{static_cast<uint32_t>(Mechanism::latency)};
  const std::vector<RingStep> at_once = simulate_rank(ring, gpu_of(2), 0);
  EXPECT_NEAR(*at_once[1].time_us - *at_once[0].time_us, 0, 1e-9);
}

// Calls of 2000 ns each on three GPUs. The clock falls 3000 ns after a load begins: in the second
// call of a GPU that has rested, and long before on the one that makes the plain call too.
TEST(SimulateRing, TakesLongerWhereTheClockHasFallen) {
  RingRequest ring = ring_of(3, RingLayout::plain, MaskKind::none, 2, 2);
  ring.request.timing = Timing::timed;
  ring.request.without = MechanismSet{static_cast<uint32_t>(Mechanism::latency)};
  ring.request.kernel.power_slowness = 0.1;
  Gpu gpu = gpu_of(2);
  gpu.power_delay_ms = 0.003;
  const auto expect_times = [&](int64_t rank, std::array<double, 3> times_us) {
    const std::vector<RingStep> steps = simulate_rank(ring, gpu, rank);
    for (size_t step = 0; step < times_us.size(); ++step)
      EXPECT_NEAR(*steps[step].time_us, times_us[step], 1e-9);
  };
  expect_times(0, {2.2, 2.2, 2.2});
  expect_times(1, {2, 2.1, 2.2});
  ring.request.without = MechanismSet{static_cast<uint32_t>(Mechanism::latency) |
                                      static_cast<uint32_t>(Mechanism::power)};
  expect_times(0, {2, 2, 2});
}

// Two GPCs, of which one is slower at the full clock. The first call takes until it ends; when the
// second one begins the clock has fallen, and all SMs are alike.
TEST(SimulateRing, GpcsAreAlikeWhereTheClockHasFallen) {
  RingRequest ring = ring_of(2, RingLayout::plain, MaskKind::none, 2, 16);
  ring.request.timing = Timing::timed;
  ring.request.schedule.workers = 32;
  ring.request.without = MechanismSet{static_cast<uint32_t>(Mechanism::latency) |
                                      static_cast<uint32_t>(Mechanism::starts)};
  ring.request.kernel.sm_spread = 0.1;
  ring.request.kernel.power_slowness = 1e-9;
  const std::vector<RingStep> steps = simulate_rank(ring, gpu_of(32), 1);
  EXPECT_GT(std::abs(*steps[0].time_us - 16), 0.01);
  EXPECT_NEAR(*steps[1].time_us, 16, 1e-6);
  ring.request.kernel.power_slowness = 0;
  const std::vector<RingStep> at_full_clock = simulate_rank(ring, gpu_of(32), 1);
  EXPECT_NEAR(*at_full_clock[1].time_us, *at_full_clock[0].time_us, 1e-6);
}

// Chunks of three rows in tiles of two: the second chunk's first tile is the rank's second.
TEST(SimulateRing, TakesChunksThatAreNoWholeTiles) {
  RingRequest ring = ring_of(2, RingLayout::zigzag, MaskKind::causal, 3, 1);
  ring.request.tiling = {2, 2};
  for (const bool timed : {false, true}) {
    ring.request.timing = timed ? Timing::timed : Timing::lockstep;
    const std::vector<RingStep> steps = simulate_rank(ring, gpu_of(2), 0);
    // Rank 0's second chunk, two tiles of Q, meets all of rank 1's three tiles.
    EXPECT_EQ(steps[1].by_tensor[size_t(Tensor::q)].l2_read_sectors, 2 * 8);
    EXPECT_EQ(steps[1].by_tensor[size_t(Tensor::k)].sm_read_sectors.value_or(0) +
                  steps[1].by_tensor[size_t(Tensor::v)].sm_read_sectors.value_or(0),
              2 * 2 * 3 * 8);
  }
}

TEST(SimulateRing, RefusesWhatNoRingDoes) {
  RingRequest ring = ring_of(2, RingLayout::plain, MaskKind::none, 2, 1);
  ring.link.clear();
  EXPECT_THROW(simulate_rank(ring, gpu_of(2), 0), std::invalid_argument);
  ring = ring_of(2, RingLayout::plain, MaskKind::none, 2, 1);
  ring.request.schedule.kv_split = 2;
  EXPECT_THROW(simulate_rank(ring, gpu_of(2), 0), std::invalid_argument);
}

TEST(Link, FindsRatesBetweenTheSizesThatAreKnown) {
  const LinkRates rates{{8, 100}, {128, 300}};
  EXPECT_EQ(link_bytes_a_ns(rates, 1), 100);
  EXPECT_EQ(link_bytes_a_ns(rates, 1000), 300);
  EXPECT_NEAR(link_bytes_a_ns(rates, 32), 200, 1e-9);  // half of the way in powers of two
  EXPECT_NEAR(transfer_ns(rates, 32), 2 * 32 / 200.0, 1e-9);
}

RingRequest backward_ring(int64_t ranks, RingLayout layout, MaskKind mask) {
  RingRequest ring = ring_of(ranks, layout, mask, 2, 2);
  ring.request.problem.pass = Pass::backward;
  return ring;
}

Gpu gpu_with_dram() {
  Gpu gpu = gpu_of(2);
  gpu.dram_gb_per_s = 50;
  return gpu;
}

// The main kernel's counts, and beside them what the small kernels read and write: O, dO and
// log-sum-exp, and the sums of dQ; in float it is twice a row.
TEST(SimulateRingBackward, OfOneGpuIsThePlainLaunchBetweenItsSmallKernels) {
  const RingRequest ring = backward_ring(1, RingLayout::plain, MaskKind::none);
  const RingStep step = simulate_rank(ring, gpu_of(2), 0).front();
  const Prediction main = simulate_lru(ring.request);
  const int64_t rows = ring.ring.seq, row = row_bytes / sector_bytes;
  const int64_t numbers = rows * 4 / sector_bytes;
  EXPECT_EQ(*step.total.sm_read_sectors - *main.total.sm_read_sectors,
            rows * (2 + 2) * row + numbers);
  EXPECT_EQ(*step.total.l2_write_sectors - *main.total.l2_write_sectors,
            rows * (2 + 1) * row + 2 * numbers);
  EXPECT_EQ(step.total.incoming_write_sectors.value_or(0), 0);
  for (const Tensor tensor : {Tensor::q, Tensor::k, Tensor::dk})
    EXPECT_EQ(step.by_tensor[size_t(tensor)].l2_read_sectors,
              main.by_tensor[size_t(tensor)].l2_read_sectors);
}

TEST(SimulateRingBackward, AddsToDqAsOftenAsOneGpuDoes) {
  for (const RingLayout layout : {RingLayout::plain, RingLayout::zigzag})
    for (const MaskKind mask : {MaskKind::none, MaskKind::causal})
      for (int64_t ranks = 1; ranks <= 4; ++ranks) {
        const RingRequest ring = backward_ring(ranks, layout, mask);
        const auto sums = sums_of(ring, gpu_of(2));
        const Prediction alone = simulate_lru(ring.request);
        EXPECT_EQ(sums[size_t(Tensor::dq_sum)].l2_reduction_sectors,
                  alone.by_tensor[size_t(Tensor::dq_sum)].l2_reduction_sectors);
        for (const Tensor tensor : {Tensor::k, Tensor::q})
          EXPECT_GT(*sums[size_t(tensor)].sm_read_sectors, 0);
      }
}

// Each K and V goes to every other GPU; of each part of dK and dV the rows that were computed come
// back: all without a mask, else one chunk of two from later ranks and both from earlier ones.
TEST(SimulateRingBackward, BringsKeysToAllAndTheirGradientsBack) {
  constexpr int64_t ranks = 3;
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    const RingRequest ring = backward_ring(ranks, RingLayout::zigzag, mask);
    const auto sums = sums_of(ring, gpu_of(2));
    const int64_t sectors = ring.ring.seq * row_bytes / sector_bytes;
    for (const auto& [tensor, expected] :
         {std::pair{Tensor::k, (ranks - 1) * sectors},
          {Tensor::dv,
           mask == MaskKind::none ? (ranks - 1) * sectors : (ranks - 1) * sectors * 3 / 4}}) {
      EXPECT_EQ(sums[size_t(tensor)].incoming_write_sectors, expected);
      EXPECT_EQ(sums[size_t(tensor)].outgoing_read_sectors, expected);
    }
  }
}

// Two GPUs, no mask: 8 rows a GPU. Behind its last call a GPU gets 8 rows of dK and of dV at 100
// bytes a nanosecond; adds them to sums of twice the size, at 50 bytes a nanosecond; and rounds
// these.
TEST(SimulateRingBackward, WaitsForTheLastGradients) {
  RingRequest ring = backward_ring(2, RingLayout::zigzag, MaskKind::none);
  ring.request.timing = Timing::timed;
  const std::vector<RingStep> steps = simulate_rank(ring, gpu_with_dram(), 1);
  const double bytes = double(ring.ring.rank_rows()) * row_bytes;
  const double moved_ns = 2 * bytes / 100;
  const double added_ns = 2 * bytes * (1 + 2 + 2 + 1) / 50;
  EXPECT_NEAR(*steps[1].exposed_us, (moved_ns + added_ns) / 1000, 1e-9);
  EXPECT_NEAR(steps[1].transfer_us, 2 * moved_ns / 1000, 1e-9);
  EXPECT_EQ(*steps[0].exposed_us, 0);
  EXPECT_THROW(simulate_rank(ring, gpu_of(2), 1), std::invalid_argument);
}

}  // namespace
}  // namespace sawtooth::sim
