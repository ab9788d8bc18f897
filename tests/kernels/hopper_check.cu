// Checks every variant of the Hopper kernel against a double-precision reference on the GPU, then
// times it. Needs an sm_90 device. Exit code 1 when a check fails.
//   hopper_check [check|time|all] [part of a variant's name]
// Every variant is checked and timed in a process of its own with a deadline, so that one that
// hangs takes nothing with it.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/hopper/variants.hpp"

namespace {

using namespace sawtooth;
using kernels::Strides;
using kernels::hopper::Variant;

#define CHECK_CUDA(call)                                                                     \
  do {                                                                                       \
    const cudaError_t status_ = (call);                                                      \
    if (status_ != cudaSuccess) {                                                            \
      std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(3);                                                                          \
    }                                                                                        \
  } while (0)

template <class T>
struct DeviceArray {
  explicit DeviceArray(int64_t count) : size(count) {
    CHECK_CUDA(cudaMalloc(&data, size_t(std::max<int64_t>(count, 1)) * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  T* data = nullptr;
  int64_t size;
};

__device__ double to_double(uint16_t bits, bool bf16) {
  return bf16 ? double(__bfloat162float(__ushort_as_bfloat16(bits)))
              : double(__half2float(__ushort_as_half(bits)));
}

__global__ void fill_random(uint16_t* to, int64_t count, uint64_t seed, bool bf16) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint64_t word = mix_seed(seed, uint64_t(i));
  const float u = (float(word >> 40) + 0.5f) / 16777216.0f;
  const float w = float((word >> 8) & 0xffffff) / 16777216.0f;
  const float normal = sqrtf(-2 * logf(u)) * cospif(2 * w);
  to[i] = bf16 ? __bfloat16_as_ushort(__float2bfloat16(normal))
               : __half_as_ushort(__float2half(normal));
}

/// One block a sampled row: out[sample * head_dim ...] and lse[sample] in double.
__global__ void reference_rows(kernels::ForwardArguments a, const int64_t* rows, double* out,
                               double* lse, double* scores, double scale) {
  const Problem& p = a.problem;
  const bool bf16 = p.dtype == ElementType::bf16;
  const int64_t flat = rows[blockIdx.x];
  const int64_t row = flat % p.seq_q, head = flat / p.seq_q % p.heads, b = flat / p.seq_q / p.heads;
  const uint16_t* q = static_cast<const uint16_t*>(a.q) + a.q_strides.offset(b, head, row);
  const uint16_t* k =
      static_cast<const uint16_t*>(a.k) + a.k_strides.offset(b, p.kv_head_of(head), 0);
  const uint16_t* v =
      static_cast<const uint16_t*>(a.v) + a.v_strides.offset(b, p.kv_head_of(head), 0);
  double* s = scores + blockIdx.x * p.seq_kv;
  __shared__ double partial[256];
  const int64_t diagonal = p.seq_kv - p.seq_q;
  double top = -INFINITY;
  for (int64_t j = threadIdx.x; j < p.seq_kv; j += blockDim.x) {
    bool visible = true;
    if (p.mask.kind != MaskKind::none) visible = j <= row + diagonal;
    if (p.mask.kind == MaskKind::window) visible = visible && row + diagonal - p.mask.window < j;
    double dot = 0;
    for (int64_t d = 0; d < p.head_dim; ++d) {
      dot += to_double(q[d], bf16) * to_double(k[j * a.k_strides.row + d], bf16);
    }
    s[j] = visible ? dot * scale : -INFINITY;
    top = fmax(top, s[j]);
  }
  partial[threadIdx.x] = top;
  __syncthreads();
  for (int i = 0; i < blockDim.x; ++i) top = fmax(top, partial[i]);
  __syncthreads();
  double sum = 0;
  for (int64_t j = threadIdx.x; j < p.seq_kv; j += blockDim.x) {
    s[j] = top == -INFINITY ? 0 : exp(s[j] - top);
    sum += s[j];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < blockDim.x; ++i) sum += partial[i];
  if (threadIdx.x == 0) lse[blockIdx.x] = sum > 0 ? top + log(sum) : -INFINITY;
  for (int64_t d = threadIdx.x; d < p.head_dim; d += blockDim.x) {
    double o = 0;
    for (int64_t j = 0; j < p.seq_kv; ++j) {
      o += s[j] * to_double(v[j * a.v_strides.row + d], bf16);
    }
    out[blockIdx.x * p.head_dim + d] = sum > 0 ? o / sum : 0;
  }
}

float host_float(uint16_t bits, bool bf16) {
  if (bf16) {
    const uint32_t word = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  return __half2float(__ushort_as_half(bits));
}

enum class Layout { bhsd, bshd };

Strides strides_of(Layout layout, int64_t heads, int64_t rows, int64_t dim) {
  if (layout == Layout::bhsd) return {heads * rows * dim, rows * dim, dim};
  return {rows * heads * dim, dim, heads * dim};
}

struct Case {
  Problem problem;
  Schedule schedule;
  Layout layout = Layout::bhsd;
};

/// Tensors of one problem on the device, inputs random, outputs poisoned.
struct Tensors {
  Tensors(const Problem& p, Layout layout, uint64_t seed)
      : q(p.batch * p.heads * p.seq_q * p.head_dim),
        k(p.batch * p.kv_heads * p.seq_kv * p.head_dim),
        v(k.size),
        o(q.size),
        lse(p.batch * p.heads * p.seq_q),
        ticket(1),
        attach(p.batch * p.kv_heads) {
    const bool bf16 = p.dtype == ElementType::bf16;
    const auto fill = [&](DeviceArray<uint16_t>& t, uint64_t s) {
      fill_random<<<unsigned(ceil_div(t.size, 256)), 256>>>(t.data, t.size, s, bf16);
    };
    fill(q, seed);
    fill(k, seed + 1);
    fill(v, seed + 2);
    arguments.problem = p;
    arguments.q = q.data;
    arguments.k = k.data;
    arguments.v = v.data;
    arguments.o = o.data;
    arguments.lse = lse.data;
    arguments.q_strides = arguments.o_strides = strides_of(layout, p.heads, p.seq_q, p.head_dim);
    arguments.k_strides = arguments.v_strides =
        strides_of(layout, p.kv_heads, p.seq_kv, p.head_dim);
    arguments.scale_log2 = float(scale(p) * 1.4426950408889634);
    constexpr uint64_t evict_first = 0x12F0000000000000;
    constexpr uint64_t evict_last = 0x14F0000000000000;
    arguments.policies = {evict_first, evict_last, evict_last};
    arguments.ticket = ticket.data;
    arguments.attach_tiles = attach.data;
    CHECK_CUDA(cudaGetLastError());
  }
  static double scale(const Problem& p) { return 1 / std::sqrt(double(p.head_dim)); }
  void reset_state() {
    CHECK_CUDA(cudaMemsetAsync(ticket.data, 0, sizeof(unsigned long long)));
    CHECK_CUDA(cudaMemsetAsync(attach.data, 0, size_t(attach.size) * sizeof(int)));
  }
  DeviceArray<uint16_t> q, k, v, o;
  DeviceArray<float> lse;
  DeviceArray<unsigned long long> ticket;
  DeviceArray<int> attach;
  kernels::ForwardArguments arguments;
};

std::string describe(const Case& c) {
  const Problem& p = c.problem;
  static const char* masks[] = {"none", "causal", "window"};
  char text[256];
  std::snprintf(text, sizeof text,
                "B%d H%d/%d Sq%d Skv%d %s%s %s scan %s launch %s pre %d W%d sec %d qo %d",
                int(p.batch), int(p.heads), int(p.kv_heads), int(p.seq_q), int(p.seq_kv),
                masks[int(p.mask.kind)],
                p.mask.kind == MaskKind::window ? std::to_string(p.mask.window).c_str() : "",
                c.layout == Layout::bhsd ? "bhsd" : "bshd",
                std::string(Scans::info()[size_t(c.schedule.scan.index)].name).c_str(),
                std::string(Launches::info()[size_t(c.schedule.launch.index)].name).c_str(),
                int(c.schedule.prefetch), int(c.schedule.workers), int(c.schedule.order.section),
                c.schedule.order.q_order.index);
  return text;
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

bool check(const Variant& variant, const Case& c, uint64_t seed, bool verbose, double& worst) {
  const Problem& p = c.problem;
  Tensors t(p, c.layout, seed);
  t.arguments.schedule = c.schedule;
  CHECK_CUDA(cudaMemset(t.o.data, 0xff, size_t(t.o.size) * 2));  // NaN in both types
  CHECK_CUDA(cudaMemset(t.lse.data, 0xff, size_t(t.lse.size) * 4));
  t.reset_state();
  variant.launch(t.arguments, nullptr);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::printf("  FAIL %s %s: %s\n", std::string(variant.name).c_str(), describe(c).c_str(),
                cudaGetErrorString(status));
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
  const int64_t n = int64_t(sample.size());
  DeviceArray<int64_t> device_sample(n);
  DeviceArray<double> out(n * p.head_dim), lse(n), scores(n * p.seq_kv);
  CHECK_CUDA(cudaMemcpy(device_sample.data, sample.data(), size_t(n) * 8, cudaMemcpyDefault));
  reference_rows<<<unsigned(n), 128>>>(t.arguments, device_sample.data, out.data, lse.data,
                                       scores.data, Tensors::scale(p));
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<double> want(size_t(n * p.head_dim)), want_lse(static_cast<size_t>(n));
  std::vector<uint16_t> o(size_t(t.o.size));
  std::vector<float> got_lse(size_t(t.lse.size));
  CHECK_CUDA(cudaMemcpy(want.data(), out.data, want.size() * 8, cudaMemcpyDefault));
  CHECK_CUDA(cudaMemcpy(want_lse.data(), lse.data, want_lse.size() * 8, cudaMemcpyDefault));
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
  const bool good = relative < limit && unwritten == 0 && lse_error < 1e-3 && infinity_errors == 0;
  worst = std::max(worst, relative);
  if (!good) {
    std::printf(
        "  FAIL %s %s: relative error %.2e, unwritten %lld of %zu, lse error %.2e, lse inf errors "
        "%lld\n",
        std::string(variant.name).c_str(), describe(c).c_str(), relative,
        static_cast<long long>(unwritten), o.size(), lse_error,
        static_cast<long long>(infinity_errors));
    if (verbose) print_error_map(want, got, std::min(n, p.seq_q), p.head_dim);
  }
  return good;
}

template <class T>
T pick(std::mt19937_64& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

Case random_case(std::mt19937_64& random, const Variant& variant) {
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
  s.scan.index = int32_t(random() % Scans::size);
  s.order.q_order.index = int32_t(random() % QOrders::size);
  s.order.section = 1 + int64_t(random() % uint64_t(p.batch * p.heads));
  s.order.head_order = pick(random, {HeadOrder::batch_major, HeadOrder::head_major});
  s.prefetch = pick<int64_t>(random, {0, 0, 1, 2, 5});
  s.seed = random();
  return c;
}

int check_variant(const Variant& variant) {
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
  std::printf("%-16s %3d problems, %d failed, worst relative error %.2e\n",
              std::string(variant.name).c_str(), count, bad, worst);
  return bad;
}

double median(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return double(values[values.size() / 2]);
}

/// Median time in ms of each schedule, interleaved, so that clocks and heat meet all alike.
std::vector<double> median_ms(const Variant& variant, Tensors& t,
                              const std::vector<Schedule>& schedules, int repetitions) {
  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  std::vector<std::vector<float>> times(schedules.size());
  constexpr int warm_up = 2;
  for (int i = -warm_up; i < repetitions; ++i) {
    for (size_t s = 0; s < schedules.size(); ++s) {
      t.arguments.schedule = schedules[s];
      t.reset_state();
      CHECK_CUDA(cudaEventRecord(start));
      variant.launch(t.arguments, nullptr);
      CHECK_CUDA(cudaEventRecord(stop));
      CHECK_CUDA(cudaEventSynchronize(stop));
      float ms;
      CHECK_CUDA(cudaEventElapsedTime(&ms, start, stop));
      if (i >= 0) times[s].push_back(ms);
    }
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::vector<double> medians;
  for (const auto& one : times) medians.push_back(median(one));
  return medians;
}

double tflops(const Problem& p, double ms) {
  const double flop = 4.0 * double(p.batch * p.heads * p.head_dim) * double(p.seq_q) *
                      double(p.seq_kv) / (p.mask.kind == MaskKind::causal ? 2 : 1);
  return flop / ms * 1e-9;
}

struct NamedSchedule {
  const char* name;
  Schedule schedule;
};

/// What is worth timing without a mask and with a causal one.
std::vector<NamedSchedule> timed_schedules(const Problem& p) {
  Schedule base;
  base.workers = 132;
  base.scan = scan_id<ReverseScan>;
  const auto with = [&](auto launch, auto scan, int64_t prefetch) {
    Schedule s = base;
    s.launch = launch;
    s.scan = scan;
    s.prefetch = prefetch;
    return s;
  };
  constexpr auto grid = launch_id<GridLaunch>;
  constexpr auto fixed = launch_id<StaticLaunch>;
  constexpr auto dynamic = launch_id<DynamicLaunch>;
  if (p.mask.kind == MaskKind::none) {
    return {{"grid", with(grid, base.scan, 0)},
            {"static", with(fixed, base.scan, 0)},
            {"dynamic", with(dynamic, base.scan, 0)},
            {"static linear prefetch 2", with(fixed, scan_id<LinearScan>, 2)},
            {"static sawtooth", with(fixed, scan_id<SawtoothScan>, 0)},
            {"static sawtooth prefetch 2", with(fixed, scan_id<SawtoothScan>, 2)}};
  }
  base.order.q_order = q_order_id<DescendingQ>;
  constexpr int64_t l2_share_bytes = int64_t(32) << 20;
  base.order.section = std::min(p.batch * p.heads, auto_section(p, l2_share_bytes));
  return {{"grid", with(grid, base.scan, 0)},
          {"dynamic", with(dynamic, base.scan, 0)},
          {"dynamic linear", with(dynamic, scan_id<LinearScan>, 0)},
          {"dynamic sawtooth", with(dynamic, scan_id<SawtoothScan>, 0)}};
}

constexpr int64_t timed_lengths[] = {512, 1024, 2048, 4096, 8192, 16384, 32768, 131072};

void time_variant(const Variant& variant) {
  const bool step_of_ladder = variant.name.find_last_of('_') != variant.name.find('_');
  for (const MaskKind mask : {MaskKind::none, MaskKind::causal}) {
    std::vector<std::string> lines;
    for (const int64_t s : timed_lengths) {
      Problem p{.batch = std::max<int64_t>(1, 16384 / s),
                .heads = 16,
                .kv_heads = 16,
                .seq_q = s,
                .seq_kv = s,
                .head_dim = variant.head_dim,
                .dtype = variant.dtype};
      p.mask.kind = mask;
      auto named = timed_schedules(p);
      if (lines.empty()) {
        for (const auto& one : named) {
          char text[96];
          std::snprintf(text, sizeof text, "%-16s %-6s %-27s", std::string(variant.name).c_str(),
                        mask == MaskKind::none ? "none" : "causal", one.name);
          lines.push_back(text);
        }
      }
      if (step_of_ladder && s > 16384) continue;
      if (s > 65536) p.heads = p.kv_heads = 2;
      Tensors t(p, Layout::bhsd, 5);
      std::vector<Schedule> schedules;
      for (const auto& one : named) schedules.push_back(one.schedule);
      const int repetitions = s > 16384 ? 5 : 9;
      const auto times = median_ms(variant, t, schedules, repetitions);
      for (size_t i = 0; i < lines.size(); ++i) {
        char text[16];
        std::snprintf(text, sizeof text, " %6.1f", tflops(p, times[i]));
        lines[i] += text;
      }
    }
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

/// Runs `work` in a process of its own; its exit code, or 1 when it died.
template <class Work>
int apart(const Variant& variant, Work work) {
  constexpr unsigned deadline_s = 30;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(deadline_s);
    const int code = work(variant);
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("%-16s died of signal %d%s\n", std::string(variant.name).c_str(), WTERMSIG(status),
              WTERMSIG(status) == SIGALRM ? " (a hang)" : "");
  return 1;
}

int require_device() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) == cudaSuccess && device.major == 9) {
    std::printf("%s, %d SMs\n", device.name, device.multiProcessorCount);
    return 0;
  }
  std::printf("hopper_check needs an sm_90 device\n");
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::string_view only = argc > 2 ? argv[2] : "";
  const auto variants = kernels::hopper::variants();
  if (const int code = apart(variants[0], [](const Variant&) { return require_device(); })) {
    return code;
  }
  int failures = 0;
  const auto each = [&](auto work) {
    for (const Variant& variant : variants) {
      if (variant.name.find(only) != std::string_view::npos) failures += apart(variant, work);
    }
  };
  if (what != "time") each(check_variant);
  if (what != "check") {
    std::printf(
        "TFLOP/s, batch max(1, 16384 / S), 16 heads (2 at the last length), "
        "causal counts half\n%-51s",
        "");
    for (const int64_t s : timed_lengths) std::printf(" %6d", int(s));
    std::printf("\n");
    each([](const Variant& variant) {
      time_variant(variant);
      return 0;
    });
  }
  return failures == 0 ? 0 : 1;
}
