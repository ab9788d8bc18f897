#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/attention/launch.hpp"
#include "tests/kernels/hopper/correctness.hpp"
#include "tests/kernels/hopper/reference_rows.hpp"
#include "tests/kernels/hopper/tensors.hpp"

namespace sawtooth::kernels::hopper {

namespace {

float host_float(uint16_t bits, bool bf16) {
  if (bf16) {
    const uint32_t word = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  return __half2float(__ushort_as_half(bits));
}

/// Where errors sit: relative error of every 16-row x 16-column block of the first bad head.
void print_error_map(const std::vector<double>& want, const std::vector<float>& got, int64_t rows,
                     int64_t dim) {
  std::printf(
      "    error map, 16x16 blocks of the first head (. < 1%%, digit = tenths, X >= 1, N nan)\n");
  for (int64_t r = 0; r < std::min<int64_t>(rows, 256); r += 16) {
    std::printf("    %4d ", int(r));
    for (int64_t d = 0; d < dim; d += 16) {
      double error = 0, norm = 0;
      for (int64_t i = r; i < std::min(rows, r + 16); ++i) {
        for (int64_t j = d; j < d + 16; ++j) {
          const double e = want[size_t(i * dim + j)] - got[size_t(i * dim + j)];
          error += e * e;
          norm += want[size_t(i * dim + j)] * want[size_t(i * dim + j)];
        }
      }
      const double relative = std::sqrt(error / std::max(norm, 1e-30));
      std::printf("%c", std::isnan(relative) ? 'N'
                        : relative >= 1      ? 'X'
                        : relative < 0.01    ? '.'
                                             : char('0' + int(relative * 10)));
    }
    std::printf("\n");
  }
  std::printf("    row 0 want/got:");
  for (int j = 0; j < 8; ++j) std::printf(" %.4f/%.4f", want[size_t(j)], double(got[size_t(j)]));
  std::printf("\n    row 9 want/got:");
  for (int j = 0; j < 8; ++j) {
    if (rows > 9)
      std::printf(" %.4f/%.4f", want[size_t(9 * dim + j)], double(got[size_t(9 * dim + j)]));
  }
  std::printf("\n");
}

bool check(const KernelVariant& variant, const Case& c, uint64_t seed, bool verbose,
           double& worst) {
  const Problem& p = c.problem;
  Tensors t(p, c.layout, seed);
  t.arguments.schedule = c.schedule;
  CHECK_CUDA(cudaMemset(t.o.data, 0xff, size_t(t.o.size) * 2));  // NaN in both types
  CHECK_CUDA(cudaMemset(t.lse.data, 0xff, size_t(t.lse.size) * 4));
  t.reset_state();
  PreparedLaunch launch;
  Outcome outcome = prepare_launch(variant, t.arguments, 0, current_device(), launch);
  if (outcome) outcome = enqueue(launch, nullptr);
  std::string wrong = outcome.message;
  if (const cudaError_t status = cudaDeviceSynchronize(); wrong.empty() && status != cudaSuccess)
    wrong = cudaGetErrorString(status);
  if (!wrong.empty()) {
    std::printf("  FAIL %s %s: %s\n", variant.name, describe(c).c_str(), wrong.c_str());
    std::exit(1);
  }
  const int64_t rows = p.batch * p.heads * p.seq_q;
  std::vector<int64_t> sample(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) sample[size_t(i)] = i;
  constexpr int64_t sample_limit = 4096;
  if (rows > sample_limit) {
    std::mt19937_64 random(seed);
    sample.resize(sample_limit);
    for (int64_t i = p.seq_q < 1024 ? p.seq_q : 1024; i < sample_limit; ++i) {
      sample[size_t(i)] = int64_t(random() % uint64_t(rows));
    }
  }
  const bool state_left = t.state_is_dirty();
  const auto n = int64_t(sample.size());
  const ReferenceRows reference = reference_rows(t.arguments, sample, Tensors::scale(p));
  const std::vector<double>&want = reference.o, &want_lse = reference.lse;
  std::vector<uint16_t> o(size_t(t.o.size));
  std::vector<float> got_lse(size_t(t.lse.size));
  CHECK_CUDA(cudaMemcpy(o.data(), t.o.data, o.size() * 2, cudaMemcpyDefault));
  CHECK_CUDA(cudaMemcpy(got_lse.data(), t.lse.data, got_lse.size() * 4, cudaMemcpyDefault));

  const bool bf16 = p.dtype == ElementType::bf16;
  int64_t unwritten = 0;
  for (const uint16_t bits : o) unwritten += std::isnan(host_float(bits, bf16));
  std::vector<float> got(want.size());
  double error = 0, norm = 0, lse_error = 0;
  int64_t infinity_errors = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = sample[size_t(i)] % p.seq_q, head = sample[size_t(i)] / p.seq_q % p.heads;
    const int64_t at =
        t.arguments.o_strides.offset(sample[size_t(i)] / p.seq_q / p.heads, head, row);
    for (int64_t d = 0; d < p.head_dim; ++d) {
      const float value = host_float(o[size_t(at + d)], bf16);
      const double w = want[size_t(i * p.head_dim + d)];
      got[size_t(i * p.head_dim + d)] = value;
      error += (w - value) * (w - value);
      norm += w * w;
    }
    const double w = want_lse[size_t(i)];
    const float g = got_lse[size_t(sample[size_t(i)])];
    if (std::isinf(w) || std::isinf(g)) {
      infinity_errors += !(std::isinf(w) && w == double(g));
    } else {
      lse_error = std::max(lse_error, std::isnan(g) ? 1e9 : std::abs(w - g));
    }
  }
  const double relative = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
  const double limit = bf16 ? 5e-3 : 1e-3;
  const bool good =
      relative < limit && unwritten == 0 && lse_error < 1e-3 && infinity_errors == 0 && !state_left;
  worst = std::max(worst, relative);
  if (!good) {
    std::printf(
        "  FAIL %s %s: relative error %.2e, unwritten %lld of %zu, lse error %.2e, lse inf errors "
        "%lld%s\n",
        variant.name, describe(c).c_str(), relative, static_cast<long long>(unwritten), o.size(),
        lse_error, static_cast<long long>(infinity_errors),
        state_left ? ", ticket or arrivals not reset" : "");
    if (verbose) print_error_map(want, got, std::min(n, p.seq_q), p.head_dim);
  }
  return good;
}

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

Case random_case(std::mt19937_64& random, const KernelVariant& variant) {
  Case c;
  Problem& p = c.problem;
  p.dtype = variant.dtype;
  p.head_dim = variant.head_dim;
  p.batch = pick<int64_t>(random, {1, 1, 2, 3});
  p.kv_heads = pick<int64_t>(random, {1, 2, 3});
  p.heads = p.kv_heads * pick<int64_t>(random, {1, 1, 2, 4});
  p.seq_q = pick<int64_t>(random, {1, 7, 64, 128, 192, 200, 333, 512, 777, 1024});
  p.seq_kv =
      random() % 2 ? p.seq_q : pick<int64_t>(random, {1, 9, 100, 128, 176, 300, 512, 1000, 1500});
  p.mask.kind = pick(random, {MaskKind::none, MaskKind::causal, MaskKind::window});
  p.mask.window = pick<int64_t>(random, {1, 17, 128, 300});
  c.layout = pick(random, {Layout::bhsd, Layout::bshd});
  Schedule& s = c.schedule;
  s.workers = pick<int64_t>(random, {1, 3, 132, 132});
  s.launch.index = int32_t(random() % Launches::size);
  if (cuts_last_wave(s) && !variant.merges_pieces) s.launch = launch_id<StaticLaunch>;
  s.scan.index = int32_t(random() % Scans::size);
  s.order.q_order.index = int32_t(random() % QOrders::size);
  s.order.section = 1 + int64_t(random() % uint64_t(p.batch * p.heads));
  s.order.head_order = pick(random, {HeadOrder::batch_major, HeadOrder::head_major});
  s.prefetch = pick<int64_t>(random, {0, 0, 1, 2, 5});
  s.seed = random();
  return c;
}

}  // namespace

int check_variant(const KernelVariant& variant) {
  double worst = 0;
  int bad = 0, count = 0;
  const auto run = [&](const Case& c, uint64_t seed) {
    ++count;
    bad += !check(variant, c, seed, bad < 2, worst);
  };
  // From the simplest on, so that the first failure says most.
  for (const int64_t s : {64, 128, 192, 256, 384, 1024}) {
    Case c;
    c.problem = {.seq_q = s, .seq_kv = s, .head_dim = variant.head_dim, .dtype = variant.dtype};
    c.schedule.workers = 132;
    run(c, uint64_t(s));
    c.problem.mask.kind = MaskKind::causal;
    run(c, uint64_t(s) + 1);
  }
  std::mt19937_64 random(20260601);
  for (int i = 0; i < 60 && bad < 4; ++i) run(random_case(random, variant), random());
  Case large;  // many items a CTA, every stage of the rings many times
  large.problem = {.batch = 2,
                   .heads = 16,
                   .kv_heads = 16,
                   .seq_q = 4096,
                   .seq_kv = 4096,
                   .head_dim = variant.head_dim,
                   .dtype = variant.dtype};
  large.schedule.workers = 132;
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    for (int launch = 0; launch < Launches::size && bad < 4; ++launch) {
      large.problem.mask.kind = mask;
      large.schedule.launch.index = launch;
      large.schedule.scan = scan_id<SawtoothScan>;
      run(large, uint64_t(launch) + 77);
    }
  }
  std::printf("%-16s %3d problems, %d failed, worst relative error %.2e\n", variant.name, count,
              bad, worst);
  return bad;
}

}  // namespace sawtooth::kernels::hopper
