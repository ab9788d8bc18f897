// Random launches in a crowd: two threads, each with streams of its own, and for each stream one
// workspace that was zero once and serves all of its launches, whatever their family and shape.
// Calls, plans and graphs come in random order. Every launch must write, bit by bit, what the same
// call wrote alone in a workspace of its own, which the double-precision reference has judged; a
// schedule whose additions depend on time is compared within rounding. Prints a line for each point
// that was wrong.
//
//   long_run [launches] [points] [seed]      10000, 240, 0
//
// Exit 0 all right, 1 a launch was wrong, 2 wrong usage, 3 no GPU.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/common/device_buffer.hpp"
#include "tests/kernels/random_points.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

constexpr int threads = 2;
constexpr int streams = 3;              // of each thread
constexpr int64_t launches_kept = 250;  // between two waits for a stream
constexpr int64_t alignment = 16;       // bytes, of O and lse
constexpr float rounding = 1.0f / 64;   // of values of order 1: P and O are rounded to 8 bits
constexpr int64_t crowd_rows = 1200;    // of the longest sequences

enum class Way : int { call, plan, graph };
constexpr std::array<const char*, 3> way_names = {"call", "plan", "graph"};

void require(const Outcome& outcome) {
  if (!outcome) throw std::runtime_error(outcome.message);
}

int64_t aligned_bytes(int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Where O, gaps and all, and then lse of a point lie in an output.
struct Output {
  int64_t o_bytes = 0;
  int64_t lse_bytes = 0;
  int64_t lse_offset() const { return aligned_bytes(o_bytes); }
  int64_t bytes() const { return aligned_bytes(lse_offset() + lse_bytes); }
};

/// Whether the order of additions depends on nothing but the call (kernels/attention/attention.h).
bool same_bits(const Schedule& schedule) {
  const bool dynamic = schedule.launch == launch_id<DynamicLaunch>;
  return schedule.scan != scan_id<AttachScan> &&
         !(schedule.scan == scan_id<SawtoothScan> && dynamic);
}

struct Point {
  RandomPoint random;
  TensorShape shape;
  DeviceTensor q, k, v;
  DeviceLists lists;
  Output output;
  DeviceBuffer expected;
  bool by_bits = true;
  std::string wrong;  // what the reference says of the call alone

  /// The call that writes to `memory`.
  AttentionForward call_to(char* memory) const {
    AttentionForward call = random.call;
    call.o = memory;
    call.lse = reinterpret_cast<float*>(memory + output.lse_offset());
    return call;
  }
};

RandomPoint crowd_point(uint64_t seed) {
  constexpr uint64_t long_every = 12;
  RandomPoint point = random_point(seed);
  Problem& problem = point.call.problem;
  if (seed % long_every == 0) {  // so that launches do overlap
    if (is_listed(problem.mask)) problem.mask = {};
    problem.batch = problem.kv_heads = 1;
    problem.heads = 2;
    problem.seq_q = problem.seq_kv = crowd_rows - int64_t(seed % 7);
    point.call.schedule.workers = 40;
  }
  point.call.workspace_starts_zero = true;
  return point;
}

/// The point `seed` with its tensors, and what it writes alone.
Point alone(uint64_t seed, AttentionInputs& inputs, AttentionResults& results) {
  RandomPoint random = crowd_point(seed);
  const Problem& problem = random.call.problem;
  inputs = random_inputs(problem, seed, random.spread);
  const TensorShape queries{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const TensorShape keys{problem.batch, problem.kv_heads, problem.seq_kv, problem.head_dim};
  const TensorShape values{problem.batch, problem.kv_heads, problem.seq_kv, problem.v_dim()};
  const TensorShape shape{problem.batch, problem.heads, problem.seq_q, problem.v_dim()};  // of O
  DeviceTensor q(queries, random.layout, &inputs.q, problem.dtype);
  DeviceTensor k(keys, random.layout, &inputs.k, problem.dtype);
  DeviceTensor v(values, random.layout, &inputs.v, problem.dtype);
  DeviceTensor o(shape, random.layout, nullptr, problem.dtype);
  AttentionForward& call = random.call;
  set_tensors(call, q, k, v, o);
  DeviceLists lists(call);
  const int64_t rows = shape.batch * shape.heads * shape.length;
  Point point{.random = random,
              .shape = shape,
              .q = std::move(q),
              .k = std::move(k),
              .v = std::move(v),
              .lists = std::move(lists),
              .output = {.o_bytes = o.placement.elements * element_bytes(problem.dtype),
                         .lse_bytes = rows * int64_t(sizeof(float))},
              .by_bits = same_bits(random.call.schedule)};
  point.expected = DeviceBuffer(point.output.bytes());
  char* const expected = point.expected.as<char>();
  SAWTOOTH_CUDA_CHECK(cudaMemset(expected, poison_byte, size_t(point.output.bytes())));
  call.lse = reinterpret_cast<float*>(expected + point.output.lse_offset());
  call.workspace_starts_zero = false;
  const DeviceBuffer workspace(int64_t(workspace_bytes(call)));
  SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), poison_byte, size_t(workspace.bytes())));
  require(attention_forward(call, workspace.as(), size_t(workspace.bytes()), nullptr));
  SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(expected, o.data(), size_t(point.output.o_bytes), cudaMemcpyDefault));
  results.o = o.read_back(results.gaps_untouched);
  results.lse.resize(size_t(rows));
  SAWTOOTH_CUDA_CHECK(
      cudaMemcpy(results.lse.data(), call.lse, size_t(point.output.lse_bytes), cudaMemcpyDefault));
  return point;
}

/// All points, each judged by the reference; judging takes all cores.
std::vector<Point> make_points(uint64_t count, uint64_t first) {
  std::vector<AttentionInputs> inputs(count);
  std::vector<AttentionResults> results(count);
  std::vector<Point> points;
  for (uint64_t i = 0; i < count; ++i) points.push_back(alone(first + i, inputs[i], results[i]));
  std::atomic<uint64_t> next = 0;
  std::vector<std::thread> judges;
  for (unsigned core = 0; core < std::max(1u, std::thread::hardware_concurrency()); ++core)
    judges.emplace_back([&] {
      for (uint64_t i; (i = next++) < count;)
        points[i].wrong = judge_point(points[i].random, inputs[i], results[i]);
    });
  for (std::thread& judge : judges) judge.join();
  return points;
}

__device__ bool near(float found, float expected) {
  return fabsf(found - expected) <= rounding * (1 + fabsf(expected));
}

__device__ float2 pair_of(uint32_t word, ElementType dtype) {
  if (dtype == ElementType::bf16)
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(word));
  return __half22float2(reinterpret_cast<const __half2&>(word));
}

/// Counts words of `found` that are not as expected, and poisons them for the next launch. The
/// first `words_of_o` are pairs of elements of 16 bits, if these are the type's, the others floats.
__global__ void compare_and_poison(uint32_t* found, const uint32_t* expected, int64_t words_of_o,
                                   int64_t words, ElementType dtype, bool by_bits,
                                   unsigned* wrong) {
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += stride) {
    const uint32_t is = found[i], should = expected[i];
    found[i] = ~uint32_t{0};
    bool right = is == should;
    if (!right && !by_bits && i < words_of_o && dtype != ElementType::fp32) {
      const float2 a = pair_of(is, dtype), b = pair_of(should, dtype);
      right = near(a.x, b.x) && near(a.y, b.y);
    } else if (!right && !by_bits) {
      right = near(__uint_as_float(is), __uint_as_float(should));
    }
    if (!right) atomicAdd(wrong, 1);
  }
}

/// A stream of a thread with what its launches share.
struct Lane {
  cudaStream_t stream = nullptr;
  DeviceBuffer workspace, output;
  std::map<size_t, AttentionPlan> plans;  // by point
  std::vector<cudaGraphExec_t> graphs;    // that may still run

  Lane(int64_t workspace_size, int64_t output_size)
      : workspace(workspace_size), output(output_size) {
    SAWTOOTH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), poison_byte, size_t(workspace_size)));
    SAWTOOTH_CUDA_CHECK(cudaMemset(workspace.as(), 0, workspace_state_bytes));
    SAWTOOTH_CUDA_CHECK(cudaMemset(output.as(), poison_byte, size_t(output_size)));
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }
  Lane(Lane&&) = default;

  void wait() {
    SAWTOOTH_CUDA_CHECK(cudaStreamSynchronize(stream));
    for (cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
    graphs.clear();
  }
  bool state_is_zero() const {
    std::vector<unsigned char> state(workspace_state_bytes);
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(state.data(), workspace.as(), state.size(), cudaMemcpyDeviceToHost));
    return std::all_of(state.begin(), state.end(), [](unsigned char byte) { return byte == 0; });
  }
};

/// A crowd is one thread's: its launches, and in device memory the wrong words of each point by the
/// way in which it was launched.
class Crowd {
 public:
  Crowd(const std::vector<Point>& points, int64_t workspace_size, int64_t output_size)
      : points_(points), wrong_(int64_t(way_names.size() * points.size() * sizeof(unsigned))) {
    for (int i = 0; i < streams; ++i) lanes_.emplace_back(workspace_size, output_size);
    SAWTOOTH_CUDA_CHECK(cudaMemset(wrong_.as(), 0, size_t(wrong_.bytes())));
    SAWTOOTH_CUDA_CHECK(cudaDeviceSynchronize());
  }

  void run(int64_t launches, uint64_t seed) {
    Draws pick(seed);
    int64_t waited = 0;
    while (launched_ < launches) {
      Lane& lane = lanes_[size_t(pick(0, streams - 1))];
      switch (Way(pick(0, int64_t(way_names.size()) - 1))) {
        case Way::call:
          call(lane, draw(pick), Way::call);
          break;
        case Way::plan:
          plan(lane, draw(pick));
          break;
        case Way::graph:
          graph(lane, pick);
          break;
      }
      if (launched_ - waited < launches_kept) continue;
      waited = launched_;
      lane.wait();
    }
    for (Lane& lane : lanes_) lane.wait();
  }

  int64_t launched() const { return launched_; }
  bool states_are_zero() const {
    return std::all_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& l) { return l.state_is_zero(); });
  }
  /// Wrong words by way and point.
  std::vector<unsigned> wrong() const {
    std::vector<unsigned> found(way_names.size() * points_.size());
    SAWTOOTH_CUDA_CHECK(
        cudaMemcpy(found.data(), wrong_.as(), size_t(wrong_.bytes()), cudaMemcpyDeviceToHost));
    return found;
  }

 private:
  size_t draw(Draws& pick) const { return size_t(pick(0, int64_t(points_.size()) - 1)); }

  void call(Lane& lane, size_t at, Way way) {
    require(attention_forward(points_[at].call_to(lane.output.as<char>()), lane.workspace.as(),
                              size_t(lane.workspace.bytes()), lane.stream));
    compare(lane, at, way);
    ++launched_;
  }

  void plan(Lane& lane, size_t at) {
    const auto [place, is_new] = lane.plans.try_emplace(at);
    if (is_new)
      require(place->second.make(points_[at].call_to(lane.output.as<char>()), lane.workspace.as(),
                                 size_t(lane.workspace.bytes())));
    require(place->second.run(lane.stream));
    compare(lane, at, Way::plan);
    ++launched_;
  }

  /// A few calls, captured and run a few times.
  void graph(Lane& lane, Draws& pick) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    const int64_t calls = pick(1, 3), runs = pick(1, 3);
    SAWTOOTH_CUDA_CHECK(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeThreadLocal));
    for (int64_t i = 0; i < calls; ++i) call(lane, draw(pick), Way::graph);
    SAWTOOTH_CUDA_CHECK(cudaStreamEndCapture(lane.stream, &graph));
    SAWTOOTH_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    SAWTOOTH_CUDA_CHECK(cudaGraphDestroy(graph));
    for (int64_t i = 0; i < runs; ++i)
      SAWTOOTH_CUDA_CHECK(cudaGraphLaunch(executable, lane.stream));
    lane.graphs.push_back(executable);
    launched_ += calls * (runs - 1);
  }

  void compare(const Lane& lane, size_t at, Way way) {
    constexpr int blocks = 16, block_threads = 256;
    const Point& point = points_[at];
    unsigned* const wrong = wrong_.as<unsigned>() + size_t(way) * points_.size() + at;
    compare_and_poison<<<blocks, block_threads, 0, lane.stream>>>(
        lane.output.as<uint32_t>(), point.expected.as<uint32_t>(),
        point.output.lse_offset() / int64_t(sizeof(uint32_t)),
        point.output.bytes() / int64_t(sizeof(uint32_t)), point.random.call.problem.dtype,
        point.by_bits, wrong);
    SAWTOOTH_CUDA_CHECK(cudaGetLastError());
  }

  const std::vector<Point>& points_;
  std::vector<Lane> lanes_;
  DeviceBuffer wrong_;
  int64_t launched_ = 0;
};

/// Prints what was wrong; whether all was right.
bool report(const std::vector<Point>& points, const std::vector<Crowd>& crowds) {
  bool right = true;
  for (const Point& point : points) {
    if (!point.wrong.empty()) std::printf("WRONG alone: %s\n", point.wrong.c_str());
    right &= point.wrong.empty();
  }
  int64_t launched = 0;
  for (const Crowd& crowd : crowds) {
    launched += crowd.launched();
    const std::vector<unsigned> wrong = crowd.wrong();
    for (size_t i = 0; i < wrong.size(); ++i) {
      if (wrong[i] == 0) continue;
      right = false;
      std::printf("WRONG by %s, %u words: %s\n", way_names[i / points.size()], wrong[i],
                  describe(points[i % points.size()].random).c_str());
    }
    if (!crowd.states_are_zero()) {
      right = false;
      std::puts("WRONG: a workspace's state is not zero");
    }
  }
  const auto by_bits = std::ranges::count_if(points, &Point::by_bits);
  std::printf("%lld launches of %zu points (%lld compared by bits), %d threads, %d streams: %s\n",
              static_cast<long long>(launched), points.size(), static_cast<long long>(by_bits),
              threads, threads * streams, right ? "all right" : "WRONG");
  return right;
}

bool long_run(int64_t launches, uint64_t count, uint64_t seed) {
  const std::vector<Point> points = make_points(count, seed);
  std::fprintf(stderr, "long_run: %zu points ran alone\n", points.size());
  int64_t workspace_size = 0, output_size = 0;
  for (const Point& point : points) {
    workspace_size = std::max(workspace_size, int64_t(workspace_bytes(point.random.call)));
    output_size = std::max(output_size, point.output.bytes());
  }
  std::vector<Crowd> crowds;
  for (int i = 0; i < threads; ++i) crowds.emplace_back(points, workspace_size, output_size);
  std::array<std::string, threads> failures;
  std::vector<std::thread> running;
  for (size_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      try {
        crowds[i].run((launches + threads - 1) / threads, seed * threads + i);
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  for (std::thread& thread : running) thread.join();
  for (const std::string& failure : failures)
    if (!failure.empty()) throw std::runtime_error(failure);
  return report(points, crowds);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t numbers[] = {10000, 240, 0};  // launches, points, seed
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    constexpr size_t most_digits = 9;
    if (i > 3 || text.empty() || text.size() > most_digits ||
        text.find_first_not_of("0123456789") != std::string_view::npos ||
        (i < 3 && std::atoll(argv[i]) == 0)) {
      std::fputs("long_run [launches] [points] [seed]: numbers from 1, a seed from 0\n", stderr);
      return 2;
    }
    numbers[i - 1] = std::strtoull(argv[i], nullptr, 10);
  }
  std::string reason;
  if (!device_available(reason)) {
    std::fprintf(stderr, "long_run: %s\n", reason.c_str());
    return 3;
  }
  try {
    return long_run(int64_t(numbers[0]), numbers[1], numbers[2]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("WRONG: %s\n", error.what());
    return 1;
  }
}
