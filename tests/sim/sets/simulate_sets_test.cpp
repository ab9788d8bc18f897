// Whole schedules on a set-associative L2, against a line-level cache written from its definition.
#include "sim/sets/simulate_sets.hpp"

#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

#include "sim/schedule/wavefront.hpp"
#include "sim/sets/set_hash.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/naive_sets.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

using tests::between;

// Lays tensors out by itself: each on a multiple of 2 MiB, tiles one after another.
class LineByLine : public WavefrontSink {
 public:
  LineByLine(const Request& request, const AtomTable& atoms)
      : atoms_(atoms),
        parameters_(request.sets),
        geometry_(set_geometry(request.l2_bytes, request.sets)),
        hash_(request.sets, geometry_.sets),
        cache_(static_cast<size_t>(geometry_.ways), static_cast<size_t>(geometry_.persisting_ways),
               request.sets.policy, request.sets.seed) {
    constexpr uint64_t page_lines = (2 << 20) / 128;
    uint64_t line = 0;
    for (AtomId atom = 0; atom < atoms.sizes().size(); ++atom) {
      const bool new_tensor = atom > 0 && atoms.tensor_of(atom) != atoms.tensor_of(atom - 1);
      if (new_tensor) line = (line + page_lines - 1) / page_lines * page_lines;
      first_line_.push_back(line);
      line += atoms.size(atom).lines;
    }
  }

  void touch(int64_t, AtomId atom, Access access) {
    const Tensor tensor = atoms_.tensor_of(atom);
    Counters& counters = by_tensor[static_cast<size_t>(tensor)];
    const bool write = access == Access::write;
    for (int64_t i = 0; i < atoms_.size(atom).lines; ++i) {
      const uint64_t line = first_line_[atom] + static_cast<uint64_t>(i);
      const int64_t sectors = std::min<int64_t>(4, atoms_.size(atom).sectors - 4 * i);
      const bool hit = cache_.access(line, hash_.set_of(line),
                                     parameters_.priorities[static_cast<size_t>(tensor)]);
      const auto count = [&](Sectors& counter) { counter = counter.value_or(0) + sectors; };
      if (access == Access::read) count(counters.sm_read_sectors);
      count(write ? counters.l2_write_sectors : counters.l2_read_sectors);
      if (!hit) count(write ? counters.l2_write_miss_sectors : counters.l2_read_miss_sectors);
      if (seen_.insert(line).second && !write) count(counters.cold_read_sectors);
    }
  }

  std::array<Counters, tensor_count> by_tensor;

 private:
  const AtomTable& atoms_;
  const SetsParameters& parameters_;
  SetGeometry geometry_;
  SetHash hash_;
  tests::NaiveSets cache_;
  std::vector<uint64_t> first_line_;
  std::set<uint64_t> seen_;
};

Request any_sets_request() {
  Request request = tests::any_request();
  request.schedule.prefetch = between(0, 3);
  request.merge_lockstep = between(0, 1) == 1;
  SetsParameters& p = request.sets;
  p.hash = static_cast<HashKind>(between(0, 2));
  p.policy = static_cast<SetPolicy>(between(0, 3));
  p.ways = int64_t{1} << between(0, 4);
  p.seed = static_cast<uint64_t>(between(0, 1000));
  const int64_t sets =
      p.hash == HashKind::exclusive_or ? int64_t{1} << between(0, 5) : between(1, 40);
  request.l2_bytes = sets * p.ways * 128;
  if (between(0, 1) == 1)
    for (Priority& priority : p.priorities) priority = static_cast<Priority>(between(0, 2));
  return request;
}

RC_GTEST_PROP(SimulateSets, EqualsTheDefinitionCounterByCounter, ()) {
  const Request request = any_sets_request();
  const AtomTable atoms(request);
  LineByLine lines(request, atoms);
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
