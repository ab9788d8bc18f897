// The code of the backward kernels, run on the CPU (tests/kernels/emulated),
// against the double-precision reference: every layout of a fragment, mask,
// order and ragged edge.
// clang-format off: kernels need CUDA's words before them
#include "tests/kernels/emulated/cuda_words.hpp"
// clang-format on

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/mma/backward/backward.cuh"
#include "kernels/mma/backward/dq_kernel.cuh"
#include "kernels/reference/attention_reference.hpp"

namespace sawtooth::kernels {

alignas(tile_alignment) unsigned char raw[emulated_shared_bytes];

namespace {

/// Elements that begin on a line, poisoned with NaN.
template <class T>
class LineAligned {
 public:
  explicit LineAligned(size_t size) : memory_(size * sizeof(T) + line_bytes, 0xff) {}
  T* data() {
    void* at = memory_.data();
    size_t space = memory_.size();
    return static_cast<T*>(std::align(size_t(line_bytes), 1, at, space));
  }

 private:
  std::vector<unsigned char> memory_;
};

/// How memory holds an element.
template <class Element>
using Bits = decltype(rounded_bits(0.0f, Element()));

template <class Element>
LineAligned<Bits<Element>> encoded(const std::vector<float>& values) {
  LineAligned<Bits<Element>> bits(values.size());
  for (size_t i = 0; i < values.size(); ++i) bits.data()[i] = rounded_bits(values[i], Element());
  return bits;
}

template <class Element>
std::vector<float> random_elements(int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values)
    value = widened_bits(rounded_bits(normal(generator), Element()), Element());
  return values;
}

template <class Gradient>
double relative_error(Gradient gradient, const std::vector<double>& reference) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    difference += std::pow(gradient(i) - reference[i], 2);
    norm += std::pow(reference[i], 2);
  }
  return std::sqrt(difference) /
         std::max(std::sqrt(norm), 1e-2 * std::sqrt(double(reference.size())));
}

struct Point {
  Problem problem;
  Schedule schedule;
};

Point random_point(uint32_t seed, int64_t head_dim) {
  std::mt19937 generator(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  Point point;
  Problem& problem = point.problem;
  problem.pass = Pass::backward;
  problem.head_dim = head_dim;
  problem.kv_heads = pick(1, 2);
  problem.heads = problem.kv_heads * pick(1, 2);
  problem.seq_q = pick(1, 150);
  problem.seq_kv = pick(0, 2) > 0 ? pick(1, 200) : problem.seq_q;
  problem.mask = {MaskKind(pick(0, 2)), pick(1, 100)};
  constexpr LaunchId launches[] = {launch_id<GridLaunch>, launch_id<StaticLaunch>,
                                   launch_id<DynamicLaunch>};
  point.schedule.launch = launches[pick(0, 2)];
  point.schedule.scan.index = int(pick(0, Scans::size - 1));
  point.schedule.order.q_order.index = int(pick(0, QOrders::size - 1));
  point.schedule.order.section = pick(1, 4);
  point.schedule.workers = pick(1, 5);
  if (pick(0, 1) == 0) point.schedule.kv_split = problem.heads_per_kv_head();
  // CTAs run one after another: in this order none of them waits.
  if (point.schedule.launch != launch_id<StaticLaunch>)
    point.schedule.dq = pick(0, 1) == 0 ? Dq::atomic : Dq::ordered;
  return point;
}

/// Runs `cta` as all CTAs of a launch whose items are those of `problem`'s pass.
template <class Function>
void run_ctas(const Problem& problem, const Tiling& tiling, const Schedule& schedule, int threads,
              Function cta) {
  const int64_t items = item_count(problem, tiling, schedule);
  const int64_t ctas =
      schedule.launch == launch_id<GridLaunch> ? items : std::min(items, schedule.workers);
  for (int64_t number = 0; number < ctas; ++number)
    emulated::cta.run(threads, unsigned(number), unsigned(ctas), cta);
}

/// Runs the kernel of `Shape` on random inputs, with dq = separate that of dQ behind it. With
/// `one_key` a row sees one key.
template <class Shape>
void expect_gradients(uint32_t seed, bool separate = false, bool one_key = false) {
  using Element = typename Shape::Element;
  Point point = random_point(seed, Shape::head_dim);
  if (one_key) point.problem.mask = {MaskKind::window, 1};
  const Problem& problem = point.problem;
  Schedule& schedule = point.schedule;
  if (separate) schedule.dq = Dq::separate;
  const float scale = 1 / std::sqrt(float(problem.head_dim));
  std::mt19937 generator(seed);
  const int64_t q_elements = problem.heads * problem.seq_q * problem.head_dim;
  const int64_t kv_elements = problem.kv_heads * problem.seq_kv * problem.head_dim;
  const auto q = random_elements<Element>(q_elements, generator);
  const auto k = random_elements<Element>(kv_elements, generator);
  const auto v = random_elements<Element>(kv_elements, generator);
  const auto d_o = random_elements<Element>(q_elements, generator);
  const ReferenceResult forward = attention_reference(problem, scale, q, k, v);
  const ReferenceGradients reference = gradients_reference(problem, scale, q, k, v, d_o);

  auto q_bits = encoded<Element>(q), k_bits = encoded<Element>(k), v_bits = encoded<Element>(v),
       d_o_bits = encoded<Element>(d_o);
  const auto parts = size_t(schedule.kv_split);
  LineAligned<Bits<Element>> separate_dq{q.size()}, dk{parts * k.size()}, dv{parts * v.size()};
  BackwardArguments arguments;
  arguments.problem = problem;
  arguments.schedule = schedule;
  arguments.q = q_bits.data();
  arguments.k = k_bits.data();
  arguments.v = v_bits.data();
  arguments.d_o = d_o_bits.data();
  arguments.dq = separate_dq.data();
  arguments.dk = dk.data();
  arguments.dv = dv.data();
  arguments.q_strides = arguments.d_o_strides = arguments.dq_strides =
      contiguous_strides(problem.heads, problem.seq_q, problem.head_dim);
  arguments.k_strides = arguments.v_strides =
      contiguous_strides(problem.kv_heads, problem.seq_kv, problem.head_dim);
  arguments.dk_strides = arguments.dv_strides =
      contiguous_strides(problem.kv_heads * schedule.kv_split, problem.seq_kv, problem.head_dim);
  arguments.scale = scale;
  arguments.scale_log2 = scale * float(M_LOG2E);

  // What the kernel before leaves.
  const int64_t padded = arguments.padded_rows();
  LineAligned<float> lse(size_t(problem.heads * padded)), sums(size_t(problem.heads * padded));
  std::fill_n(lse.data(), problem.heads * padded, INFINITY);
  std::fill_n(sums.data(), problem.heads * padded, 0.0f);
  for (int64_t row = 0; row < problem.heads * problem.seq_q; ++row) {
    const int64_t at = row / problem.seq_q * padded + row % problem.seq_q;
    if (!std::isinf(forward.lse[size_t(row)]))
      lse.data()[at] = float(forward.lse[size_t(row)] * M_LOG2E);
    for (int64_t d = row * problem.head_dim; d < (row + 1) * problem.head_dim; ++d)
      sums.data()[at] += float(double(d_o[size_t(d)]) * forward.o[size_t(d)]);
  }
  const int64_t sums_a_head = arguments.dq_rows() * problem.head_dim;
  LineAligned<float> dq_sums(size_t(problem.heads * sums_a_head));
  std::fill_n(dq_sums.data(), problem.heads * sums_a_head, 0.0f);
  std::vector<unsigned> turns(size_t(problem.heads * q_tiles(problem, Shape::tiling())));
  arguments.dq_turns = turns.data();
  unsigned long long ticket = 0;
  std::vector<int> attach_tiles(size_t(problem.kv_heads));
  arguments.lse_log2 = lse.data();
  arguments.row_sums = sums.data();
  arguments.dq_sums = dq_sums.data();
  arguments.ticket = &ticket;
  arguments.attach_tiles = attach_tiles.data();

  const auto run_main = [&](auto kernel) {
    run_ctas(problem, Shape::tiling(), schedule, Shape::threads, [&] { kernel(arguments); });
  };
  if (!separate) run_main(backward_kernel<Shape>);
  if constexpr (Shape::has_dq_kernel)
    if (separate) {
      run_main(backward_kernel<Shape, false>);
      using OfDq = DqShape<Shape>;
      DqArguments of_dq{arguments};
      of_dq.problem.pass = Pass::forward;
      of_dq.schedule.kv_split = 1;
      std::ranges::fill(attach_tiles, 0);
      run_ctas(of_dq.problem, OfDq::tiling(), of_dq.schedule, OfDq::threads,
               [&] { dq_kernel<OfDq>(of_dq); });
    }

  // Where rows see one key, dQ and dK are 0: what is left of a difference is held against the floor
  // of relative_error.
  const double allowed = std::is_same_v<Element, float>    ? one_key ? 1e-4 : 1e-5
                         : std::is_same_v<Element, __half> ? 2e-3
                                                           : 1e-2;
  const auto element = [](LineAligned<Bits<Element>>& bits) {
    return [&](size_t i) { return double(widened_bits(bits.data()[i], Element())); };
  };
  // Row after row, as the kernel behind writes it.
  std::vector<double> added(q.size());
  for (int64_t i = 0; i < problem.heads * sums_a_head; ++i) {
    const DqPlace place = dq_place<Element>(i % sums_a_head, problem.head_dim);
    if (place.row < problem.seq_q)
      added[size_t((i / sums_a_head * problem.seq_q + place.row) * problem.head_dim +
                   place.column)] = double(dq_sums.data()[i]) * double(scale);
  }
  const auto dq = [&](size_t i) { return separate ? element(separate_dq)(i) : added[i]; };
  EXPECT_LE(relative_error(dq, reference.dq), allowed) << "dQ, seed " << seed;
  // The parts of a head follow one another; another kernel sums them up.
  const size_t of_head = k.size() / size_t(problem.kv_heads);
  const auto summed = [&](LineAligned<Bits<Element>>& bits) {
    return [&](size_t i) {
      double sum = 0;
      for (size_t part = 0; part < parts; ++part)
        sum += element(bits)((i / of_head * parts + part) * of_head + i % of_head);
      return sum;
    };
  };
  EXPECT_LE(relative_error(summed(dk), reference.dk), allowed) << "dK, seed " << seed;
  EXPECT_LE(relative_error(summed(dv), reference.dv), allowed) << "dV, seed " << seed;
}

// Shapes of kernels/attention/variants.inc.
template <class Element>
using D32 = BackwardShape<Element, 32, 128, 64, 4, 2, 64, 3>;
template <class Element>
using D96Wide = BackwardShape<Element, 96, 64, 96, 6, 2, 32, 1>;
template <class Element>
using D96Small = BackwardShape<Element, 96, 32, 48, 3, 2, 32, 2>;
template <class Element>
using D64Wide = BackwardShape<Element, 64, 64, 128, 4, 2, 32, 2>;
template <class Element>
using D64Square = BackwardShape<Element, 64, 64, 64, 4, 2, 64, 2>;
template <class Element>
using D128Wide = BackwardShape<Element, 128, 64, 128, 8, 2, 32, 1, 2>;
template <class Element>
using D128Square = BackwardShape<Element, 128, 64, 64, 4, 2, 32, 2>;
template <class Element>
using D128Small = BackwardShape<Element, 128, 32, 64, 4, 2, 32, 2>;
using Fp32D32 = BackwardShape<float, 32, 64, 64, 4, 2, 32, 3>;
using Fp32D64 = BackwardShape<float, 64, 32, 64, 4, 2, 32, 2>;
using Fp32D128Wide = BackwardShape<float, 128, 32, 128, 8, 2, 16, 1>;
using Fp32D128 = BackwardShape<float, 128, 32, 64, 4, 2, 16, 1>;
using Fp32D128Small = BackwardShape<float, 128, 16, 32, 2, 2, 16, 1>;

/// Each shape with a seed of its own, from `seed` on.
template <class... Shapes>
void expect_gradients_of(uint32_t seed, bool separate = false, bool one_key = false) {
  (expect_gradients<Shapes>(seed++, separate, one_key), ...);
}

TEST(BackwardEmulated, GivesTheGradientsOfRandomProblemsUnderRandomSchedules) {
  for (const uint32_t seed : {0u, 10u})
    expect_gradients_of<D64Wide<__half>, D64Wide<__nv_bfloat16>, D64Square<__half>,
                        D64Square<__nv_bfloat16>, D128Wide<__half>, D128Square<__half>,
                        D128Small<__half>, D128Small<__nv_bfloat16>, D128Wide<__nv_bfloat16>>(seed);
}

TEST(BackwardEmulated, GivesThemAtHeadDimsOfPanelsOf32Columns) {
  for (const uint32_t seed : {100u, 104u})
    expect_gradients_of<D32<__half>, D96Wide<__nv_bfloat16>, D96Small<__half>,
                        D96Small<__nv_bfloat16>>(seed);
}

TEST(BackwardEmulated, GivesThemInFp32AndToRowsThatSeeOneKey) {
  for (const auto& [seed, one_key] :
       {std::pair{300u, false}, {308u, false}, {400u, true}, {410u, true}}) {
    expect_gradients_of<Fp32D32, Fp32D64, Fp32D128Wide, Fp32D128, Fp32D128Small>(seed, false,
                                                                                 one_key);
    expect_gradients_of<Fp32D32, Fp32D64, Fp32D128>(seed + 5, true, one_key);
  }
}

TEST(BackwardEmulated, GivesDqByAKernelOfItsOwn) {
  for (const uint32_t seed : {200u, 204u, 208u, 212u})
    expect_gradients_of<D32<__half>, D64Square<__nv_bfloat16>, D128Square<__half>,
                        D128Small<__half>>(seed, true);
}

}  // namespace
}  // namespace sawtooth::kernels
