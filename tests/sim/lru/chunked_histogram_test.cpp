#include "sim/lru/chunked_histogram.hpp"

#include "sim/lru/simulate_lru.hpp"
#include "sim/schedule/merged_visits.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

bool same(const DistanceHistogram& a, const DistanceHistogram& b) {
  for (int t = 0; t < tensor_count; ++t) {
    for (int access = 0; access < access_count; ++access) {
      const DistanceClass& ours = a.of(static_cast<Tensor>(t), static_cast<Access>(access));
      const DistanceClass& theirs = b.of(static_cast<Tensor>(t), static_cast<Access>(access));
      if (ours.bins() != theirs.bins() || ours.cold_sectors() != theirs.cold_sectors())
        return false;
    }
  }
  return true;
}

// The second engine is one stack, visited from the beginning to the end.
RC_GTEST_PROP(ChunkedHistogram, IsThatOfOneStackForAllThreadsAndLengthsOfChunks, ()) {
  Request request = tests::any_request();
  request.schedule.prefetch = tests::between(0, 2);
  request.use_period = false;
  const Prediction one = simulate_lru(request);
  LiveAtoms atoms(request);
  DistanceHistogram histogram;
  const auto least = static_cast<size_t>(tests::between(1, 300));
  ChunkedHistogram chunks(atoms, histogram, tests::between(1, 4), {least, 0});
  replay_lockstep(request, atoms, chunks);
  chunks.flush();
  RC_ASSERT(same(histogram, one.histogram));
  RC_ASSERT(chunks.visits() == one.tile_visits);
}

// Heads that have ended give their numbers to later ones, also across the ends of chunks.
TEST(ChunkedHistogram, TilesThatShareANumberStayApart) {
  Request request;
  request.problem = {.batch = 6, .heads = 2, .kv_heads = 1, .seq_q = 512, .seq_kv = 512};
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {64, 64};
  request.schedule.workers = 5;
  const Prediction one = simulate_lru(request);
  for (const size_t least : {1, 2, 7, 50, 1000}) {
    LiveAtoms atoms(request);
    DistanceHistogram histogram;
    ChunkedHistogram chunks(atoms, histogram, 3, {least, 0});
    replay_lockstep(request, atoms, chunks);
    chunks.flush();
    EXPECT_TRUE(same(histogram, one.histogram)) << least;
  }
}

TEST(ChunkedHistogram, AReplayThatIsStoppedEndsItsThreads) {
  std::stop_source source;
  source.request_stop();
  Request request;
  request.problem = {.seq_q = 4096, .seq_kv = 4096};
  request.problem.mask.kind = MaskKind::causal;
  request.tiling = {64, 64};
  request.schedule.workers = 4;
  request.threads = 3;
  request.stop = source.get_token();
  EXPECT_THROW(simulate_lru(request), Stopped);
}

}  // namespace
}  // namespace sawtooth::sim
