// Whole schedules on a set-associative L2, against a line-level cache written from its definition.
#include "sim/sets/simulate_sets.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

#include "tests/support/generators.hpp"
#include "tests/support/line_sets.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;

Request any_sets_request() {
  Request request = tests::any_request();
  request.schedule.prefetch = between(0, 3);
  request.merge_lockstep = between(0, 1) == 1;
  request.l2_bytes = tests::draw_sets(request.sets, 4);
  tests::draw_priorities(request.sets);
  return request;
}

RC_GTEST_PROP(SimulateSets, EqualsTheDefinitionCounterByCounter, ()) {
  const Request request = any_sets_request();
  const AtomTable atoms(request);
  tests::LineBySet lines(request, atoms);
  LockstepWavefront(request, atoms, lines).run();
  const Prediction prediction = simulate_sets(request);
  RC_ASSERT(!prediction.method.empty());
  for (size_t t = 0; t < size_t{tensor_count}; ++t) {
    for (const CounterColumn& column : counter_columns) {
      if (column.member == &Counters::dram_read_sectors) continue;  // read misses by another name
      RC_ASSERT((prediction.by_tensor[t].*column.member).value_or(0) ==
                (lines.by_tensor[t].*column.member).value_or(0));
    }
    RC_ASSERT(prediction.by_tensor[t].dram_read_sectors ==
              prediction.by_tensor[t].l2_read_miss_sectors);
  }
}

TEST(SimulateSets, SmallerLinesOfTheSameCapacityHoldTheSameBytes) {
  // K/V of one head fit, whatever the line: after the first pass nothing misses but O's first
  // write.
  for (const int64_t line : {32, 64, 128}) {
    Request request;
    request.problem = {.seq_q = 512, .seq_kv = 512};
    request.schedule.workers = 2;
    request.l2_bytes = 1 << 20;
    request.sets.line_bytes = line;
    const Prediction prediction = simulate_sets(request);
    EXPECT_EQ(*prediction.total.l2_read_miss_sectors, *prediction.total.cold_read_sectors);
    EXPECT_EQ(*prediction.total.cold_read_sectors, 3 * 512 * 4);  // Q, K and V of 128-byte rows
    EXPECT_EQ(*prediction.total.l2_write_miss_sectors, 512 * 4);
  }
}

TEST(SimulateSets, KeptTensorsStayAndStreamedOnesMiss) {
  // One worker, 1 MiB of K and of V on 1.5 MiB of L2: cyclic, so LRU misses both in every pass.
  // With K kept to the last in 3/4 (1.125 MiB), K is read from memory once; V still misses.
  Request request;
  request.problem = {.seq_q = 512, .seq_kv = 8192};
  request.schedule.workers = 1;
  request.l2_bytes = 3 << 19;
  const int64_t cold = 8192 * 4;
  const Prediction plain = simulate_sets(request);
  EXPECT_EQ(*plain.by_tensor[static_cast<size_t>(Tensor::k)].l2_read_miss_sectors, 8 * cold);
  request.sets.priorities[static_cast<size_t>(Tensor::k)] = Priority::evict_last;
  const Prediction kept = simulate_sets(request);
  EXPECT_EQ(*kept.by_tensor[static_cast<size_t>(Tensor::k)].l2_read_miss_sectors, cold);
  EXPECT_EQ(*kept.by_tensor[static_cast<size_t>(Tensor::v)].l2_read_miss_sectors, 8 * cold);
}

TEST(SimulateSets, MethodSaysHowItCounted) {
  Request request;
  request.problem = {.seq_q = 4096, .seq_kv = 4096};
  request.schedule.workers = 4;
  request.l2_bytes = 1 << 20;  // 512 sets of 16 ways: 8 groups of 64-line tiles
  request.sets.hash = HashKind::exclusive_or;
  EXPECT_EQ(simulate_sets(request).method, "tile-granular, 8 groups of sets");
  request.sets.hash = HashKind::balanced;
  EXPECT_EQ(simulate_sets(request).method,
            "split: tiles of 64 lines into 2 parts, 16 groups of sets");
  request.sets.policy = SetPolicy::random;
  EXPECT_EQ(simulate_sets(request).method,
            "line by line, because every set draws random victims of its own");
}

TEST(SetGeometry, MistakesNameTheOptionAndWhatIsAllowed) {
  const auto message = [](int64_t bytes, auto change) {
    SetsParameters parameters;
    change(parameters);
    try {
      set_geometry(bytes, parameters);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  using testing::HasSubstr;
  using testing::StartsWith;
  EXPECT_THAT(message(1000, [](SetsParameters&) {}), StartsWith("l2-bytes: 1000"));
  EXPECT_THAT(message(1 << 20, [](SetsParameters& p) { p.line_bytes = 256; }),
              StartsWith("l2-line-bytes: 256"));
  EXPECT_THAT(message(1 << 20, [](SetsParameters& p) { p.ways = 0; }), StartsWith("l2-ways: 0"));
  EXPECT_THAT(message(3 << 20, [](SetsParameters& p) { p.hash = HashKind::exclusive_or; }),
              HasSubstr("allowed: balanced"));
  EXPECT_THAT(message(12 * 128,
                      [](SetsParameters& p) {
                        p.ways = 12;
                        p.policy = SetPolicy::plru;
                      }),
              StartsWith("l2-ways: 12"));
  EXPECT_THAT(message(1 << 20, [](SetsParameters& p) { p.set_aside_bytes = 1 << 20; }),
              HasSubstr("up to 6/8 of l2-bytes, 786432"));
}

}  // namespace
}  // namespace sawtooth::sim
