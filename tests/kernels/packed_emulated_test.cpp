// The forward kernel for packed sequences, run on the CPU (tests/kernels/emulated), with items of
// the void sequence that plans have whose lengths may change: they write nothing.
// clang-format off: kernels need CUDA's words before them
#include "tests/kernels/emulated/cuda_words.hpp"
// clang-format on

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/forward.cuh"
#include "kernels/reference/attention_reference.hpp"

namespace sawtooth::kernels {

alignas(tile_alignment) unsigned char raw[emulated_shared_bytes];

namespace {

using Element = __half;
using Shape = ForwardShape<Element, 64, 64, 64, 4, 2, 64, true, 3>;

/// Sequences of 70 queries and 90 keys, of 1 and 0, and a void one, of two heads.
void expect_rows_of_sequences(MaskKind mask, LaunchId launch) {
  constexpr int64_t heads = 2, dim = 64, q_rows = 71, kv_rows = 90;
  const std::vector<PackedSequence> sequences{{0, 0, 70, 90}, {70, 90, 1, 0}, {0, 0, 0, 0}};
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  const auto random_bits = [&](int64_t rows) {
    std::vector<uint16_t> bits(size_t(rows * heads * dim) + 8);
    for (uint16_t& value : bits) value = rounded_bits(normal(generator), Element());
    return bits;
  };
  const auto q = random_bits(q_rows), k = random_bits(kv_rows), v = random_bits(kv_rows);
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
    emulated::cta.run(Shape::threads, cta, ctas, [&] { forward_packed_kernel<Shape>(arguments); });
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
