// Checks the kernels for packed sequences (varlen) on a GPU against the double-precision reference,
// on random problems: sequences of different lengths, some without queries or keys, where in every
// second problem the keys of one sequence are NaN, of which its neighbours must show nothing. Every
// point runs by a plan, from a captured graph, by a call, and from a graph that was captured with
// other lengths, which must give the same bits.
//   packed_check [points] [first seed] [FAMILY]     (300 from seed 0, of every family)
// Exit 0 all right, 1 a check failed, 2 wrong usage, 3 no GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/attention/attention.hpp"
#include "tests/kernels/device_tensor.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_check.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

struct Point {
  AttentionForward call;
  std::vector<int32_t> q_rows{0}, kv_rows{0};  // where sequences begin, and the end
  Layout layout = Layout::length_first;
  int64_t poisoned = -1;  // the sequence whose keys are NaN, which no other may meet
};

int32_t random_length(Generator& generator) {
  switch (generator() % 5) {
    case 0:
      return int32_t(generator() % 3);
    case 1:
      return int32_t(generator() % 20);
    case 2:
      return 64 * int32_t(1 + generator() % 5);
    default:
      return int32_t(generator() % 450);
  }
}

Point random_point(uint64_t seed, std::string_view family) {
  Generator generator(seed);
  Point point;
  AttentionForward& call = point.call;
  Problem& problem = call.problem;
  call.family = family;
  problem.batch = 1 + int64_t(generator() % 7);
  problem.kv_heads = 1 + int64_t(generator() % 3);
  problem.heads = problem.kv_heads * one_of<int64_t>(generator, {1, 1, 2, 4});
  problem.head_dim = one_of<int64_t>(generator, {64, 128});
  problem.dtype = generator() % 2 == 0 ? ElementType::bf16 : ElementType::fp16;
  problem.mask.kind = MaskKind(generator() % 3);
  problem.mask.window = 1 + int64_t(generator() % 300);
  const bool same_lengths = generator() % 2 == 0;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int32_t q = random_length(generator);
    point.q_rows.push_back(point.q_rows.back() + q);
    point.kv_rows.push_back(point.kv_rows.back() + (same_lengths ? q : random_length(generator)));
  }
  Schedule& schedule = call.schedule;
  schedule.launch = one_of(generator, {LaunchId{automatic_policy}, launch_id<GridLaunch>,
                                       launch_id<StaticLaunch>, launch_id<DynamicLaunch>});
  schedule.scan = one_of(generator, {ScanId{automatic_policy}, scan_id<LinearScan>,
                                     scan_id<ReverseScan>, scan_id<SawtoothItemScan>});
  schedule.order.q_order.index = int(generator() % 4) - 1;
  schedule.order.section = int64_t(generator() % 5);
  schedule.workers = one_of<int64_t>(generator, {0, 0, 1, 7});
  call.packed.order.index = int(generator() % 2);
  call.scale = generator() % 4 == 0 ? 0.05f : 0;
  point.layout = one_of(generator, {Layout::length_first, Layout::contiguous, Layout::padded});
  return point;
}

std::string describe(const Point& point) {
  const Problem& p = point.call.problem;
  char text[256];
  std::snprintf(text, sizeof text, "%s B%d H%d/%d D%d %s mask %d/%d launch %d scan %d layout %d:",
                std::string(point.call.family).c_str(), int(p.batch), int(p.heads), int(p.kv_heads),
                int(p.head_dim), p.dtype == ElementType::bf16 ? "bf16" : "fp16", int(p.mask.kind),
                int(p.mask.window), int(point.call.schedule.launch.index),
                int(point.call.schedule.scan.index), int(point.layout));
  std::string whole = text;
  for (size_t b = 1; b < point.q_rows.size(); ++b)
    whole.append(" ")
        .append(std::to_string(point.q_rows[b] - point.q_rows[b - 1]))
        .append("x")
        .append(std::to_string(point.kv_rows[b] - point.kv_rows[b - 1]));
  return whole;
}

/// Rows [begin, end) of every head of a tensor [heads, rows, dim].
template <class T>
std::vector<T> rows_of(const std::vector<T>& tensor, int64_t heads, int64_t dim, int64_t begin,
                       int64_t end) {
  const int64_t rows = int64_t(tensor.size()) / (heads * dim);
  std::vector<T> found;
  for (int64_t head = 0; head < heads; ++head)
    found.insert(found.end(), tensor.begin() + (head * rows + begin) * dim,
                 tensor.begin() + (head * rows + end) * dim);
  return found;
}

/// Each sequence has one; a row without a key has O 0 and lse -inf.
std::vector<ReferenceResult> references(const Point& point, const std::vector<float>& q,
                                        const std::vector<float>& k, const std::vector<float>& v) {
  const Problem& problem = point.call.problem;
  const double scale =
      point.call.scale > 0 ? double(point.call.scale) : 1 / std::sqrt(double(problem.head_dim));
  const int64_t dim = problem.head_dim;
  std::vector<ReferenceResult> expected;
  for (size_t b = 0; b < size_t(problem.batch); ++b) {
    Problem one = problem;
    one.batch = 1;
    one.seq_q = point.q_rows[b + 1] - point.q_rows[b];
    one.seq_kv = point.kv_rows[b + 1] - point.kv_rows[b];
    const auto rows = size_t(problem.heads * one.seq_q);
    const bool empty = one.seq_q == 0 || one.seq_kv == 0 || int64_t(b) == point.poisoned;
    const auto of = [&](const std::vector<float>& tensor, int64_t heads,
                        const std::vector<int32_t>& begins) {
      return rows_of(tensor, heads, dim, begins[b], begins[b + 1]);
    };
    expected.push_back(empty ? ReferenceResult{std::vector<double>(rows * size_t(dim), 0),
                                               std::vector<double>(rows, -INFINITY)}
                             : plain_reference(one, scale, of(q, problem.heads, point.q_rows),
                                               of(k, problem.kv_heads, point.kv_rows),
                                               of(v, problem.kv_heads, point.kv_rows)));
  }
  return expected;
}

Judged judge(const Point& point, const std::vector<ReferenceResult>& references,
             const std::vector<float>& o, const std::vector<float>& lse) {
  const Problem& problem = point.call.problem;
  const Tolerance tolerated{problem.dtype == ElementType::bf16 ? 5e-3 : 1e-3, 2e-3};
  Judged judged;
  for (size_t b = 0; b < size_t(problem.batch) && judged.wrong.empty(); ++b) {
    if (int64_t(b) == point.poisoned) continue;
    const auto of = [&](const std::vector<float>& tensor, int64_t dim) {
      return rows_of(tensor, problem.heads, dim, point.q_rows[b], point.q_rows[b + 1]);
    };
    const Judged of_one = judge_rows(of(o, problem.head_dim), of(lse, 1), references[b], tolerated);
    judged = {of_one.wrong, std::max(judged.error, of_one.error)};
    if (!judged.wrong.empty()) judged.wrong += " in sequence " + std::to_string(b);
  }
  return judged;
}

enum class Way { plan, graph, call, changed };

/// As many sequences and rows in other lengths: the last sequence's first, and so on.
std::vector<int32_t> reversed(const std::vector<int32_t>& begins) {
  std::vector<int32_t> others{0};
  for (size_t b = begins.size() - 1; b > 0; --b)
    others.push_back(others.back() + begins[b] - begins[b - 1]);
  return others;
}

/// Two replays of a plan that was made and captured with other lengths.
void run_changed(AttentionForward call, const std::vector<int32_t>& q_rows,
                 const std::vector<int32_t>& kv_rows, const DeviceBuffer& workspace,
                 cudaStream_t stream) {
  const std::vector<int32_t> other_q = reversed(q_rows), other_kv = reversed(kv_rows);
  call.packed.q = other_q.data();
  call.packed.kv = other_kv.data();
  AttentionPlan plan;
  require(plan.make(call, workspace.as(), size_t(workspace.bytes())));
  CapturedRun captured(plan, stream);
  captured.launch();
  require(plan.set_rows(q_rows.data(), kv_rows.data(), stream));
  for (int replays = 0; replays < 2; ++replays) captured.launch();
  require(cudaStreamSynchronize(stream));
}

void run_by(Way way, const AttentionForward& call, const DeviceBuffer& workspace,
            cudaStream_t stream) {
  const auto bytes = size_t(workspace.bytes());
  if (way == Way::call) {
    require(attention_forward(call, workspace.as(), bytes, stream));
    require(cudaStreamSynchronize(stream));
    return;
  }
  AttentionPlan plan;
  require(plan.make(call, workspace.as(), bytes));
  if (way == Way::plan) {
    require(plan.run(stream));
    require(cudaStreamSynchronize(stream));
    return;
  }
  CapturedRun captured(plan, stream);
  for (int replays = 0; replays < 2; ++replays) captured.launch();
  require(cudaStreamSynchronize(stream));
}

/// NaN, which the poisoned sequence may have, is equal to NaN.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Judged run(Point& point, uint64_t seed) {
  Generator generator(seed + 1000003);
  AttentionForward& call = point.call;
  const Problem& problem = call.problem;
  call.packed.q = point.q_rows.data();
  call.packed.kv = point.kv_rows.data();
  const TensorShape q_shape{1, problem.heads, std::max(1, point.q_rows.back()), problem.head_dim};
  const TensorShape kv_shape{1, problem.kv_heads, std::max(1, point.kv_rows.back()),
                             problem.head_dim};
  const auto elements = [&](const TensorShape& shape) {
    return random_elements(shape.heads * shape.length * shape.head_dim, problem.dtype, 1,
                           generator);
  };
  const std::vector<float> q_values = elements(q_shape);
  std::vector<float> k_values = elements(kv_shape), v_values = elements(kv_shape);
  if (generator() % 2 == 0) point.poisoned = int64_t(generator() % uint64_t(problem.batch));
  if (point.poisoned >= 0)
    for (int64_t head = 0; head < problem.kv_heads; ++head)
      for (std::vector<float>* values : {&k_values, &v_values}) {
        const auto row = [&](int32_t at) {
          return values->begin() + (head * kv_shape.length + at) * problem.head_dim;
        };
        std::fill(row(point.kv_rows[size_t(point.poisoned)]),
                  row(point.kv_rows[size_t(point.poisoned) + 1]), NAN);
      }
  const std::vector<ReferenceResult> expected = references(point, q_values, k_values, v_values);
  const DeviceTensor q(q_shape, point.layout, &q_values, problem.dtype);
  const DeviceTensor k(kv_shape, point.layout, &k_values, problem.dtype);
  const DeviceTensor v(kv_shape, point.layout, &v_values, problem.dtype);
  const auto of_rows = [](const DeviceTensor& tensor) {
    Strides strides = tensor.placement.strides;
    strides.batch = 0;
    return strides;
  };
  const size_t rows = size_t(problem.heads * q_shape.length);
  std::vector<float> lse(rows);
  const DeviceBuffer lse_buffer(int64_t(rows * sizeof(float)));
  call.q = q.data();
  call.k = k.data();
  call.v = v.data();
  call.q_strides = of_rows(q);
  call.k_strides = of_rows(k);
  call.v_strides = of_rows(v);
  call.lse = lse_buffer.as<float>();
  call.workspace_starts_zero = generator() % 2 == 0;
  const Stream stream;

  Judged judged;
  std::vector<float> first;
  for (const Way way : {Way::plan, Way::graph, Way::call, Way::changed}) {
    call.packed.may_change = way == Way::changed;
    if (way == Way::changed && point.q_rows.back() == 0) continue;
    DeviceTensor o(q_shape, point.layout, nullptr, problem.dtype);
    call.o = o.data();
    call.o_strides = of_rows(o);
    require(cudaMemset(lse_buffer.as(), poison_byte, size_t(lse_buffer.bytes())));
    const DeviceBuffer workspace(int64_t(workspace_bytes(call)));
    require(cudaMemset(workspace.as(), poison_byte, size_t(workspace.bytes())));
    require(cudaMemset(workspace.as(), 0, workspace_state_bytes));
    require(cudaDeviceSynchronize());
    if (way == Way::changed)
      run_changed(call, point.q_rows, point.kv_rows, workspace, stream);
    else
      run_by(way, call, workspace, stream);
    bool untouched = true;
    const std::vector<float> results = o.read_back(untouched);
    require(cudaMemcpy(lse.data(), lse_buffer.as(), rows * sizeof(float), cudaMemcpyDeviceToHost));
    if (point.q_rows.back() == 0) continue;
    const Judged one = judge(point, expected, results, lse);
    judged = {one.wrong, std::max(judged.error, one.error)};
    if (!untouched) judged.wrong = "memory beside O was written";
    if (way == Way::plan)
      first = results;
    else if (!same_bits(results, first))
      judged.wrong = "another run gave other bits";
    if (judged.wrong.empty()) continue;
    judged.wrong += ", way " + std::to_string(int(way));
    break;
  }
  return judged;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int hopper = 90;
  return check_points(argc, argv, "packed_check", {{"hopper", hopper}, {"mma"}}, random_point, run,
                      describe);
}
