// The code of the kernels that serve, run on the CPU (tests/kernels/emulated), against the
// double-precision reference: of decode with lengths of their own, cut units, pages, and cascades;
// of packed sequences with items of the void sequence that plans have whose lengths may change:
// they write nothing.
// clang-format off: kernels need CUDA's words before them
#include "tests/kernels/emulated/cuda_words.hpp"
// clang-format on

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/decode/decode.cuh"
#include "kernels/mma/forward.cuh"
#include "kernels/reference/attention_reference.hpp"
#include "scheduler/cascade_row.hpp"

namespace sawtooth::kernels {

alignas(tile_alignment) unsigned char raw[emulated_shared_bytes];

namespace {

using Element = __half;

std::vector<uint16_t> random_bits(int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(size_t(count) + 8);
  for (uint16_t& value : bits) value = rounded_bits(normal(generator), Element());
  return bits;
}

struct Point {
  Problem problem;
  Prefix prefix;
  std::vector<int32_t> lengths;
  int64_t page_rows = 0;  // 0: K and V are [batch, kv_heads, seq_kv, dim]
  std::vector<int32_t> table;
  int64_t pages = 0;
  int64_t ctas = 1;
};

Point random_point(uint32_t seed, int64_t head_dim, int64_t tile_rows, bool cascade) {
  std::mt19937 generator(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  Point point;
  Problem& problem = point.problem;
  problem.head_dim = head_dim;
  problem.batch = pick(1, 6);
  problem.kv_heads = pick(1, 2);
  const int64_t group = pick(1, 6);
  problem.heads = problem.kv_heads * group;
  problem.seq_q = pick(1, cascade ? std::min<int64_t>(4, tile_rows / group) : 7);
  problem.mask = {pick(0, 1) == 0 ? MaskKind::none : MaskKind::causal};
  int64_t least = 0;
  if (cascade) {
    point.prefix = {64 * pick(1, 3), pick(1, problem.batch + 1)};
    least = point.prefix.keys + (problem.mask.kind == MaskKind::causal ? problem.seq_q - 1 : 0);
  }
  problem.seq_kv = least + pick(1, 200);
  for (int64_t b = 0; b < problem.batch; ++b)
    point.lengths.push_back(int32_t(pick(0, 3) == 0 ? least : pick(least, problem.seq_kv)));
  point.ctas = pick(1, 9);
  if (pick(0, 1) == 0) return point;
  point.page_rows = int64_t{16} << pick(0, 2);
  const int64_t stride = ceil_div(problem.seq_kv, point.page_rows);
  point.pages = problem.batch * stride;
  point.table.resize(size_t(point.pages));
  std::iota(point.table.begin(), point.table.end(), 0);
  std::ranges::shuffle(point.table, generator);
  return point;
}

/// The page, or sequence, and the row there of key `key` of sequence `b`.
std::pair<int64_t, int64_t> place(const Point& point, int64_t b, int64_t key) {
  if (key < point.prefix.keys) b = point.prefix.first_of_group(b);
  if (point.page_rows == 0) return {b, key};
  const int64_t stride = ceil_div(point.problem.seq_kv, point.page_rows);
  return {point.table[size_t(b * stride + key / point.page_rows)], key % point.page_rows};
}

template <class Shape>
void expect_attention(uint32_t seed) {
  const Point point = random_point(seed, Shape::head_dim, Shape::rows, Shape::cascades);
  const Problem& problem = point.problem;
  const int64_t dim = problem.head_dim;
  const float scale = 1 / std::sqrt(float(dim));
  std::mt19937 generator(seed);
  const int64_t rows = point.page_rows > 0 ? point.page_rows : problem.seq_kv;
  const int64_t pages = point.page_rows > 0 ? point.pages : problem.batch;
  const int64_t sequence_rows = problem.heads * problem.seq_q;
  const std::vector<uint16_t> q = random_bits(problem.batch * sequence_rows * dim, generator);
  const std::vector<uint16_t> k = random_bits(pages * problem.kv_heads * rows * dim, generator);
  const std::vector<uint16_t> v = random_bits(pages * problem.kv_heads * rows * dim, generator);
  std::vector<uint16_t> o(size_t(problem.batch * sequence_rows * dim) + 8);
  std::vector<float> lse(size_t(problem.batch * sequence_rows));

  const int64_t packed_rows = problem.heads_per_kv_head() * problem.seq_q;
  const int64_t shares = point.ctas;
  constexpr int64_t most_items = 64;
  std::vector<float> pieces(size_t((2 * shares + most_items) * Shape::piece_floats), NAN);
  std::vector<unsigned> arrivals(size_t(4 * shares + most_items), 0);
  decode::DecodeArguments arguments;
  arguments.batch = int32_t(problem.batch);
  arguments.kv_heads = int32_t(problem.kv_heads);
  arguments.group = int32_t(problem.heads_per_kv_head());
  arguments.positions = int32_t(problem.seq_q);
  arguments.row_tiles = int32_t(ceil_div(packed_rows, Shape::rows));
  arguments.most_keys = int32_t(problem.seq_kv);
  arguments.causal = problem.mask.kind == MaskKind::causal;
  arguments.lengths = point.lengths.data();
  if (point.page_rows > 0) {
    arguments.pages = point.table.data();
    arguments.pages_a_sequence = ceil_div(problem.seq_kv, point.page_rows);
    arguments.page_shift = std::countr_zero(uint64_t(point.page_rows));
  }
  arguments.page_rows = int32_t(rows);
  arguments.q = q.data();
  arguments.k = k.data();
  arguments.v = v.data();
  arguments.o = o.data();
  arguments.lse = lse.data();
  arguments.q_strides = arguments.o_strides = contiguous_strides(problem.heads, problem.seq_q, dim);
  arguments.k_strides = arguments.v_strides = contiguous_strides(problem.kv_heads, rows, dim);
  arguments.scale_log2 = scale * 1.4426950408889634f;
  arguments.pieces = pieces.data();
  arguments.arrivals = arrivals.data();
  arguments.prefix = point.prefix;
  arguments.least_keys = int32_t(point.prefix.keys + (arguments.causal ? problem.seq_q - 1 : 0));
  for (int64_t cta = 0; cta < point.ctas; ++cta)
    emulated::cta.run(Shape::threads, unsigned(cta), unsigned(point.ctas), [&] {
      decode::decode_cta<Shape>(raw, arguments, decode::AsyncCopies<Shape>(arguments));
    });
  EXPECT_EQ(std::ranges::count(arrivals, 0u), int64_t(arrivals.size()));

  const auto widened = [](const std::vector<uint16_t>& bits, int64_t from, int64_t count) {
    std::vector<float> values;
    for (int64_t i = from; i < from + count; ++i)
      values.push_back(widened_bits(bits[size_t(i)], Element()));
    return values;
  };
  for (int64_t b = 0; b < problem.batch; ++b) {
    Problem one = problem;
    one.batch = 1;
    one.seq_kv = point.lengths[size_t(b)];
    const auto keys_of = [&](const std::vector<uint16_t>& bits) {
      std::vector<float> values;
      for (int64_t head = 0; head < problem.kv_heads; ++head)
        for (int64_t key = 0; key < one.seq_kv; ++key) {
          const auto [page, row] = place(point, b, key);
          const auto one_row =
              widened(bits, ((page * problem.kv_heads + head) * rows + row) * dim, dim);
          values.insert(values.end(), one_row.begin(), one_row.end());
        }
      return values;
    };
    const auto elements = size_t(sequence_rows * dim);
    ReferenceResult expected;
    expected.o.assign(elements, 0);
    expected.lse.assign(size_t(sequence_rows), -INFINITY);
    if (one.seq_kv > 0)
      expected = attention_reference(
          one, scale, widened(q, b * int64_t(elements), int64_t(elements)), keys_of(k), keys_of(v));
    double difference = 0, norm = 1e-6;
    for (size_t i = 0; i < elements; ++i) {
      const double value = widened_bits(o[size_t(b) * elements + i], Element());
      difference += std::pow(value - expected.o[i], 2);
      norm += std::pow(expected.o[i], 2);
    }
    EXPECT_LE(std::sqrt(difference / norm), 2e-3) << "seed " << seed << ", sequence " << b;
    for (size_t i = 0; i < size_t(sequence_rows); ++i) {
      const double value = lse[size_t(b * sequence_rows) + i];
      if (expected.lse[i] == -INFINITY)
        EXPECT_EQ(value, -INFINITY) << "seed " << seed;
      else
        EXPECT_NEAR(value, expected.lse[i], 1e-3) << "seed " << seed << ", sequence " << b;
    }
  }
}

using Few64 = decode::Shape<Element, 64, 1, 1, 1, 3, 2>;
using Many64 = decode::Shape<Element, 64, 2, 1, 1, 3, 1>;
using Many128 = decode::Shape<Element, 128, 2, 1, 1, 2, 1>;

constexpr uint32_t rounds = 6;

TEST(DecodeEmulated, GivesTheResultsOfRandomProblems) {
  for (uint32_t seed = 0; seed < rounds; ++seed) {
    expect_attention<Few64>(seed);
    expect_attention<Many64>(seed + 100);
  }
}

TEST(DecodeEmulated, GivesThemWherePrefixesAreScannedOnceForStacksOfSequences) {
  for (uint32_t seed = 0; seed < rounds; ++seed) {
    expect_attention<decode::CascadeShape<Few64>>(seed);
    expect_attention<decode::CascadeShape<Many64>>(seed + 100);
    expect_attention<decode::CascadeShape<Many128>>(seed + 200);
  }
}

using PackedShape = ForwardShape<Element, 64, 64, 64, 4, 2, 64, true, 3>;

/// Sequences of 70 queries and 90 keys, of 1 and 0, and a void one, of two heads.
void expect_rows_of_sequences(MaskKind mask, LaunchId launch) {
  constexpr int64_t heads = 2, dim = 64, q_rows = 71, kv_rows = 90;
  const std::vector<PackedSequence> sequences{{0, 0, 70, 90}, {70, 90, 1, 0}, {0, 0, 0, 0}};
  std::mt19937 generator(1);
  const auto random_rows = [&](int64_t rows) { return random_bits(rows * heads * dim, generator); };
  const auto q = random_rows(q_rows), k = random_rows(kv_rows), v = random_rows(kv_rows);
  constexpr uint16_t untouched = 0x1234;
  std::vector<uint16_t> o(size_t(q_rows * heads * dim) + 8, untouched);
  std::vector<float> lse(size_t(q_rows * heads), NAN);
  std::vector<WorkCoordinates> list;
  for (const auto& [sequence, tiles] : {std::pair{0, 2}, {1, 1}})
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t tile = 0; tile < tiles; ++tile) list.push_back({sequence, head, tile, 0});
  for (int i = 0; i < 3; ++i) list.push_back({2, 0, 0, 0});
  unsigned long long ticket = 0;
  PackedArguments arguments;
  arguments.problem = {.batch = 2, .heads = heads, .kv_heads = heads, .seq_q = 70, .seq_kv = 90};
  arguments.problem.head_dim = dim;
  arguments.problem.dtype = ElementType::fp16;
  arguments.problem.mask = {mask, 5};
  arguments.schedule.launch = launch;
  arguments.schedule.workers = 2;
  arguments.schedule.order.list = list.data();
  arguments.q = q.data();
  arguments.k = k.data();
  arguments.v = v.data();
  arguments.o = o.data();
  arguments.lse = lse.data();
  arguments.q_strides = arguments.k_strides = arguments.v_strides =
      arguments.o_strides = {0, dim, heads * dim};
  const float scale = 1 / std::sqrt(float(dim));
  arguments.scale_log2 = scale * 1.4426950408889634f;
  arguments.ticket = &ticket;
  arguments.sequences = sequences.data();
  arguments.items = int64_t(list.size());
  arguments.q_rows = q_rows;
  const unsigned ctas = launch == launch_id<GridLaunch> ? unsigned(list.size()) : 2u;
  for (unsigned cta = 0; cta < ctas; ++cta)
    emulated::cta.run(PackedShape::threads, cta, ctas,
                      [&] { forward_packed_kernel<PackedShape>(arguments); });
  EXPECT_EQ(ticket, 0u);

  Problem one = arguments.problem;
  one.batch = 1;
  const auto head_major = [&](const std::vector<uint16_t>& bits, int64_t rows) {
    std::vector<float> values;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t column = 0; column < dim; ++column)
          values.push_back(
              widened_bits(bits[size_t((row * heads + head) * dim + column)], Element()));
    return values;
  };
  const ReferenceResult expected =
      attention_reference(one, scale, head_major(q, 70), head_major(k, 90), head_major(v, 90));
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < 70; ++row) {
      EXPECT_NEAR(lse[size_t(head * q_rows + row)], expected.lse[size_t(head * 70 + row)], 1e-3);
      for (int64_t column = 0; column < dim; ++column)
        EXPECT_NEAR(widened_bits(o[size_t((row * heads + head) * dim + column)], Element()),
                    expected.o[size_t((head * 70 + row) * dim + column)], 5e-3);
    }
  // The query without a key.
  for (int64_t i = 70 * heads * dim; i < q_rows * heads * dim; ++i) EXPECT_EQ(o[size_t(i)], 0);
  for (size_t i = size_t(q_rows * heads * dim); i < o.size(); ++i) EXPECT_EQ(o[i], untouched);
}

TEST(PackedEmulated, WritesTheRowsOfItsSequencesAndNoneOfTheVoidOne) {
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal, MaskKind::window})
    for (const LaunchId launch :
         {launch_id<GridLaunch>, launch_id<StaticLaunch>, launch_id<DynamicLaunch>})
      expect_rows_of_sequences(mask, launch);
}

}  // namespace
}  // namespace sawtooth::kernels
