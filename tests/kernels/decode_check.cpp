// Checks the decode kernels on a GPU against the double-precision reference, on random problems:
// ragged, paged, with shared pages, empty, of one token; with `:cascade` those whose groups of
// sequences share a prefix that is scanned once. Every point runs twice, on a plan, which
// must give the same bits; then with other lengths on the same plan, from a captured graph.
//   decode_check [points] [first seed] [FAMILY[:cascade]]     (300 from seed 0, of every family)
// Exit 0 all right, 1 a check failed, 2 wrong usage, 3 no GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/attention/decode.hpp"
#include "tests/kernels/device_tensor.hpp"
#include "tests/kernels/plain_reference.hpp"
#include "tests/kernels/random_check.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::kernels;

constexpr std::string_view cascade_suffix = ":cascade";

/// A problem, its lengths and where the keys lie.
struct Point {
  AttentionDecode call;
  std::vector<int32_t> lengths[2];  // of the first runs and of the last
  std::vector<int32_t> table;
  bool heads_inside = false;  // rows of all heads of a key follow each other
};

/// A prefix of a few tiles, which every length reaches behind; the rows of a sequence fit a tile.
void add_prefix(Generator& generator, Point& point) {
  AttentionDecode& call = point.call;
  Problem& problem = call.problem;
  constexpr int64_t most_tile_keys = 128, most_rows = 32, most_rows_of_256 = 16;
  problem.batch = 1 + int64_t(generator() % 14);
  const int64_t fit = problem.head_dim == 256 ? most_rows_of_256 : most_rows;
  problem.seq_q = std::min(problem.seq_q, fit / problem.heads_per_kv_head());
  const int64_t unit = std::max(most_tile_keys, call.pages.page_rows);
  call.prefix = {.keys = unit * (1 + int64_t(generator() % 5)),
                 .group = 1 + int64_t(generator() % uint64_t(problem.batch + 2))};
  problem.seq_kv += least_keys(call);
}

Point random_point(uint64_t seed, std::string_view family) {
  Generator generator(seed);
  Point point;
  AttentionDecode& call = point.call;
  Problem& problem = call.problem;
  const bool cascade = family.ends_with(cascade_suffix);
  if (cascade) family.remove_suffix(cascade_suffix.size());
  call.family = family;
  problem.batch = 1 + int64_t(generator() % 6);
  problem.kv_heads = 1 + int64_t(generator() % 4);
  problem.heads = problem.kv_heads * one_of<int64_t>(generator, {1, 2, 3, 4, 5, 7, 8, 12, 16});
  problem.seq_q = one_of<int64_t>(generator, {1, 1, 1, 2, 3, 4, 9});
  problem.seq_kv = one_of<int64_t>(generator, {1, 5, 63, 64, 65, 200, 513, 1000, 2500});
  problem.head_dim = one_of<int64_t>(generator, {64, 128, 128, 256});
  problem.dtype = generator() % 2 == 0 ? ElementType::bf16 : ElementType::fp16;
  problem.mask.kind = generator() % 2 == 0 ? MaskKind::none : MaskKind::causal;
  call.workers = one_of<int64_t>(generator, {0, 0, 1, 2, 7, 40});
  point.heads_inside = generator() % 2 == 0;
  const bool ragged = generator() % 4 != 0;
  KvPages& pages = call.pages;
  const int64_t page_rows = one_of<int64_t>(generator, {16, 32, 64, 128, 256});
  const bool paged = generator() % 3 != 0;
  if (paged) pages.page_rows = page_rows;
  if (cascade) add_prefix(generator, point);
  const int64_t least = least_keys(call);
  const auto any_more = uint64_t(problem.seq_kv - least + 1);
  for (std::vector<int32_t>& lengths : point.lengths)
    for (int64_t b = 0; b < problem.batch; ++b)
      lengths.push_back(!ragged                ? int32_t(problem.seq_kv)
                        : generator() % 5 == 0 ? int32_t(least)
                                               : int32_t(least + int64_t(generator() % any_more)));
  if (!paged) return point;
  pages.table_stride = ceil_div(problem.seq_kv, pages.page_rows) + int64_t(generator() % 3);
  const int64_t used = problem.batch * pages.table_stride;
  pages.page_count = used + int64_t(generator() % 5);
  std::vector<int32_t> free(size_t(pages.page_count));
  std::iota(free.begin(), free.end(), 0);
  std::ranges::shuffle(free, generator);
  point.table.assign(free.begin(), free.begin() + used);
  const Prefix& prefix = call.prefix;
  const bool shares_prefix = !prefix.shared() && generator() % 3 == 0;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t keys = std::max(point.lengths[0][size_t(b)], point.lengths[1][size_t(b)]);
    for (int64_t p = 0; p < pages.table_stride; ++p) {
      int32_t& entry = point.table[size_t(b * pages.table_stride + p)];
      const bool elsewhere = !prefix.owns(b) && p * pages.page_rows < prefix.keys;
      if (elsewhere || p >= ceil_div(keys, pages.page_rows))
        entry = -7;  // read by no correct launch
      if (shares_prefix && p < pages.table_stride / 2 && entry >= 0 && point.table[size_t(p)] >= 0)
        entry = point.table[size_t(p)];
    }
  }
  return point;
}

std::string describe(const Point& point) {
  const Problem& p = point.call.problem;
  char text[256];
  std::snprintf(text, sizeof text,
                "%s B%d H%d/%d Sq%d Skv%d D%d %s %s workers %d, %s pages of %d, "
                "prefix %d of %d",
                std::string(point.call.family).c_str(), int(p.batch), int(p.heads), int(p.kv_heads),
                int(p.seq_q), int(p.seq_kv), int(p.head_dim),
                p.dtype == ElementType::bf16 ? "bf16" : "fp16",
                p.mask.kind == MaskKind::causal ? "causal" : "none", int(point.call.workers),
                point.table.empty() ? "no" : "shuffled", int(point.call.pages.page_rows),
                int(point.call.prefix.keys), int(point.call.prefix.group));
  return text;
}

template <class T>
DeviceBuffer on_device(const std::vector<T>& values) {
  DeviceBuffer buffer(int64_t(std::max<size_t>(values.size(), 1) * sizeof(T)));
  require(
      cudaMemcpy(buffer.as(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return buffer;
}

/// K or V of every key, [page or sequence, kv_heads, rows, dim]; rows that hold no key are NaN.
struct KeyTensor {
  TensorShape shape;
  std::vector<float> values;

  KeyTensor(const Point& point, Generator& generator) {
    const Problem& problem = point.call.problem;
    const bool paged = !point.table.empty();
    const int64_t pages = paged ? point.call.pages.page_count : problem.batch;
    const int64_t rows = paged ? point.call.pages.page_rows : problem.seq_kv;
    shape = {pages, problem.kv_heads, rows, problem.head_dim};
    values = random_elements(pages * problem.kv_heads * rows * problem.head_dim, problem.dtype, 1,
                             generator);
    std::vector<bool> holds(size_t(pages * rows), false);
    for (const std::vector<int32_t>& lengths : point.lengths)
      for (int64_t b = 0; b < problem.batch; ++b)
        for (int64_t j = 0; j < lengths[size_t(b)]; ++j)
          holds[size_t(place(point, b, j).first * rows + place(point, b, j).second)] = true;
    for (int64_t page = 0; page < pages; ++page)
      for (int64_t head = 0; head < problem.kv_heads; ++head)
        for (int64_t row = 0; row < rows; ++row)
          if (!holds[size_t(page * rows + row)])
            std::fill_n(values.begin() + at(page, head, row), problem.head_dim, NAN);
  }
  int64_t at(int64_t page, int64_t head, int64_t row) const {
    return ((page * shape.heads + head) * shape.length + row) * shape.head_dim;
  }
  /// Rows that stand for a prefix in other sequences than their group's first hold no key.
  static std::pair<int64_t, int64_t> place(const Point& point, int64_t b, int64_t key) {
    const Prefix& prefix = point.call.prefix;
    if (prefix.shared() && key < prefix.keys) b = prefix.first_of_group(b);
    if (point.table.empty()) return {b, key};
    const KvPages& pages = point.call.pages;
    return {point.table[size_t(b * pages.table_stride + key / pages.page_rows)],
            key % pages.page_rows};
  }
  /// These are the values of one sequence, [kv_heads, keys, dim].
  std::vector<float> of(const Point& point, int64_t b, int64_t keys) const {
    std::vector<float> found;
    for (int64_t head = 0; head < shape.heads; ++head)
      for (int64_t j = 0; j < keys; ++j) {
        const auto [page, row] = place(point, b, j);
        const auto from = values.begin() + at(page, head, row);
        found.insert(found.end(), from, from + shape.head_dim);
      }
    return found;
  }
};

Judged judge(const Point& point, int which, const std::vector<float>& q, const KeyTensor& k,
             const KeyTensor& v, const std::vector<float>& o, const std::vector<float>& lse) {
  const Problem& problem = point.call.problem;
  const double scale = 1 / std::sqrt(double(problem.head_dim));
  const auto rows = size_t(problem.heads * problem.seq_q);
  const auto elements = rows * size_t(problem.head_dim);
  // Probabilities and results are rounded to the element type.
  const Tolerance tolerated{problem.dtype == ElementType::bf16 ? 6e-3 : 8e-4, 1e-3};
  Judged judged;
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t keys = point.lengths[which][size_t(b)];
    Problem one = problem;
    one.batch = 1;
    one.seq_kv = keys;
    ReferenceResult expected{std::vector<double>(elements, 0),
                             std::vector<double>(rows, -INFINITY)};
    if (keys > 0)
      expected = plain_reference(
          one, scale, {q.begin() + b * int64_t(elements), q.begin() + (b + 1) * int64_t(elements)},
          k.of(point, b, keys), v.of(point, b, keys));
    const auto of = [&](const std::vector<float>& results, size_t size) {
      return results.empty() ? std::span<const float>()
                             : std::span(results).subspan(size_t(b) * size, size);
    };
    const Judged of_one = judge_rows(of(o, elements), of(lse, rows), expected, tolerated);
    judged = {of_one.wrong, std::max(judged.error, of_one.error)};
    if (!judged.wrong.empty()) {
      judged.wrong += " in sequence " + std::to_string(b) + " of " + std::to_string(keys) + " keys";
      break;
    }
  }
  return judged;
}

/// What is wrong, or an empty text.
Judged run(Point& point, uint64_t seed) {
  Generator generator(seed + 1000003);
  AttentionDecode& call = point.call;
  const Problem& problem = call.problem;
  const KeyTensor k_values(point, generator), v_values(point, generator);
  const TensorShape q_shape{problem.batch, problem.heads, problem.seq_q, problem.head_dim};
  const std::vector<float> q_values =
      random_elements(problem.batch * problem.heads * problem.seq_q * problem.head_dim,
                      problem.dtype, 1, generator);
  const Layout layout = point.heads_inside ? Layout::length_first : Layout::contiguous;
  const DeviceTensor q(q_shape, layout, &q_values, problem.dtype);
  const DeviceTensor k(k_values.shape, layout, &k_values.values, problem.dtype);
  const DeviceTensor v(v_values.shape, layout, &v_values.values, problem.dtype);
  DeviceTensor o(q_shape, layout, nullptr, problem.dtype);
  const auto rows = size_t(problem.batch * problem.heads * problem.seq_q);
  const DeviceBuffer lengths = on_device(point.lengths[0]);
  const DeviceBuffer table = on_device(point.table);
  const bool with_lse = generator() % 4 != 0;
  std::vector<float> lse(with_lse ? rows : 0, NAN);
  const DeviceBuffer lse_buffer = on_device(lse);
  const bool uniform = std::ranges::all_of(
      point.lengths[0], [&](int32_t length) { return length == problem.seq_kv; });
  set_tensors(call, q, k, v, o);
  call.lse = with_lse ? lse_buffer.as<float>() : nullptr;
  call.lengths = uniform ? nullptr : lengths.as<int32_t>();
  call.pages.table = point.table.empty() ? nullptr : table.as<int32_t>();
  call.workspace_starts_zero = generator() % 2 == 0;
  require(check_tables(call, nullptr));
  const DeviceBuffer workspace(int64_t(workspace_bytes(call)));
  require(cudaMemset(workspace.as(), 0xff, size_t(workspace.bytes())));
  require(cudaMemset(workspace.as(), 0, workspace_state_bytes));
  DecodePlan plan;
  require(plan.make(call, workspace.as(), size_t(workspace.bytes())));
  const Stream stream;
  CapturedRun captured(plan, stream);

  Judged judged;
  std::vector<float> first;
  for (int attempt = 0; attempt < 3 && judged.wrong.empty(); ++attempt) {
    const int which = attempt == 2 && !uniform ? 1 : 0;
    require(cudaMemcpy(lengths.as(), point.lengths[which].data(),
                       point.lengths[which].size() * sizeof(int32_t), cudaMemcpyHostToDevice));
    require(cudaDeviceSynchronize());
    if (attempt == 0)
      require(plan.run(stream));
    else
      captured.launch();
    require(cudaStreamSynchronize(stream));
    bool untouched = true;
    const std::vector<float> results = o.read_back(untouched);
    if (with_lse)
      require(cudaMemcpy(lse.data(), lse_buffer.as(), lse.size() * sizeof(float),
                         cudaMemcpyDeviceToHost));
    const Judged one = judge(point, which, q_values, k_values, v_values, results, lse);
    judged = {one.wrong, std::max(judged.error, one.error)};
    if (!untouched) judged.wrong = "memory beside O was written";
    if (attempt == 0)
      first = results;
    else if (which == 0 && results != first)
      judged.wrong = "the second run gave other bits";
    if (!judged.wrong.empty()) judged.wrong += ", run " + std::to_string(attempt);
  }
  return judged;
}

}  // namespace

int main(int argc, char** argv) {
  return check_points(argc, argv, "decode_check",
                      {{"mma-tma"}, {"mma"}, {"mma-tma:cascade"}, {"mma:cascade"}}, random_point,
                      run, describe);
}
