// The forward kernel for lists of tiles, run on the CPU (tests/kernels/emulated), against the
// double-precision reference and the order of the schedule.
// clang-format off: kernels need CUDA's words before them
#include "tests/kernels/emulated/cuda_words.hpp"
// clang-format on

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/forward.cuh"
#include "kernels/reference/attention_reference.hpp"
#include "tests/kernels/host_lists.hpp"

namespace sawtooth::kernels {

alignas(tile_alignment) unsigned char raw[emulated_shared_bytes];

namespace {

using Element = __half;
using Shape = ListedForwardShape<ForwardShape<Element, 64, 64, 64, 4, 2, 64, true, 3>>;

/// Numbers representable in the element type, as bits and as floats.
struct Numbers {
  std::vector<uint16_t> bits;
  std::vector<float> values;

  Numbers(int64_t count, std::mt19937& generator) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) {
      bits.push_back(rounded_bits(normal(generator), Element()));
      values.push_back(widened_bits(bits.back(), Element()));
    }
    bits.resize(bits.size() + 8);  // copies move 16 bytes
  }
};

/// What a launch left beside O and lse.
struct Recorded {
  std::vector<ItemRecord> items;
  std::vector<StepRecord> steps;
};

void expect_attention(ListKind kind, const Problem& drawn, const Schedule& schedule,
                      uint32_t seed) {
  Problem problem = drawn;
  const HostLists lists(kind, problem, Shape::tiling(), seed);
  problem.mask = lists.mask();
  const TileLists& of_q = problem.mask.listed->of_q;
  const std::vector<int32_t> entries = list_entries(problem, Shape::tiling(), *problem.mask.listed);
  std::mt19937 generator(seed);
  const int64_t dim = problem.head_dim, rows = problem.batch * problem.heads * problem.seq_q;
  const int64_t kv_rows = problem.batch * problem.kv_heads * problem.seq_kv;
  const Numbers q(rows * dim, generator), k(kv_rows * dim, generator), v(kv_rows * dim, generator);
  std::vector<uint16_t> o(size_t(rows * dim) + 8);
  std::vector<float> lse(size_t(rows), NAN);
  unsigned long long ticket = 0;
  std::vector<int> attach(size_t(problem.batch * problem.kv_heads), 0);
  const int64_t tiles = kv_tiles(problem, Shape::tiling());
  const int64_t items = item_count(problem, Shape::tiling(), schedule);
  Recorded recorded{std::vector<ItemRecord>(size_t(items)),
                    std::vector<StepRecord>(size_t(items * tiles))};
  ListedArguments arguments;
  arguments.problem = problem;
  arguments.schedule = schedule;
  arguments.q = q.bits.data();
  arguments.k = k.bits.data();
  arguments.v = v.bits.data();
  arguments.o = o.data();
  arguments.lse = lse.data();
  arguments.q_strides = arguments.o_strides = contiguous_strides(problem.heads, problem.seq_q, dim);
  arguments.k_strides = arguments.v_strides =
      contiguous_strides(problem.kv_heads, problem.seq_kv, dim);
  const float scale = 1 / std::sqrt(float(dim));
  arguments.scale_log2 = scale * 1.4426950408889634f;
  arguments.ticket = &ticket;
  arguments.attach_tiles = attach.data();
  arguments.trace = {recorded.items.data(), recorded.steps.data(), tiles};
  arguments.lists = {{of_q.begin, entries.data()}, problem.mask.listed->spans};
  const bool grid = schedule.launch == launch_id<GridLaunch>;
  const auto ctas = unsigned(grid ? items : min_of(items, schedule.workers));
  for (unsigned cta = 0; cta < ctas; ++cta)
    emulated::cta.run(Shape::threads, cta, ctas, [&] { forward_listed_kernel<Shape>(arguments); });

  const ReferenceResult expected =
      attention_reference(problem, scale, q.values, k.values, v.values);
  for (size_t i = 0; i < lse.size(); ++i) {
    if (expected.lse[i] == -INFINITY)
      ASSERT_EQ(lse[i], -INFINITY) << "seed " << seed << ", row " << i;
    else
      ASSERT_NEAR(lse[i], expected.lse[i], 1e-3) << "seed " << seed << ", row " << i;
    for (size_t at = i * size_t(dim); at < (i + 1) * size_t(dim); ++at)
      ASSERT_NEAR(widened_bits(o[at], Element()), expected.o[at], 5e-3) << "seed " << seed;
  }
  for (int64_t index = 0; index < items; ++index) {
    Item item = item_at(problem, Shape::tiling(), schedule, index);
    item.scanned = of_q.places(item.own_tile);  // device code, as here, knows no lists
    const ItemRecord& record = recorded.items[size_t(index)];
    const ScanContext context = scan_context(schedule, item, record.items_before,
                                             of_q.first_from(item.scanned, record.attach_tile));
    ASSERT_EQ(record.times_started, 1u);
    ASSERT_EQ(record.steps, context.tiles);
    for (int64_t step = 0; step < record.steps; ++step)
      ASSERT_EQ(recorded.steps[size_t(index * tiles + step)].kv_tile,
                of_q.tiles[scanned_tile_at(schedule, item, context, step)])
          << "seed " << seed << ", item " << index << ", step " << step;
  }
}

TEST(ListedEmulated, GivesTheResultsOfRandomListsInTheOrderOfTheSchedule) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 generator(seed);
    const auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(generator);
    };
    Problem problem{.batch = pick(1, 2), .heads = 2, .kv_heads = pick(1, 2)};
    problem.seq_q = pick(1, 200);
    problem.seq_kv = pick(0, 1) == 0 ? problem.seq_q : pick(1, 300);
    problem.dtype = ElementType::fp16;
    Schedule schedule{.workers = pick(1, 4)};
    schedule.launch.index = int(pick(0, 2));  // grid, static, dynamic
    schedule.scan.index = int(pick(0, Scans::size - 1));
    schedule.prefetch = pick(0, 2);
    schedule.order.section = pick(1, 3);
    expect_attention(ListKind(seed % list_kinds), problem, schedule, seed);
  }
}

}  // namespace
}  // namespace sawtooth::kernels
