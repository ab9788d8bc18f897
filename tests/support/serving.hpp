// Random problems as inference has them: lengths of their own, shared prefixes, pages, equal shares
// and cascades, with all that a request points to.
#pragma once

#include <algorithm>
#include <vector>

#include "scheduler/cascade.hpp"
#include "tests/support/generators.hpp"

namespace sawtooth::tests {

/// Tiles before each of the `items` items of a schedule's order, and after the last.
inline int64_t fill_tiles_before(const Problem& problem, const Tiling& tiling,
                                 const Schedule& schedule, const Sequences& sequences,
                                 int64_t items, int64_t* before) {
  const auto tiles_of = [&](int64_t index) {
    return tiles_in_row(problem, tiling, sequences,
                        item_at(problem, tiling, schedule, sequences, index));
  };
  return sum_tiles_before(items, tiles_of, before);
}

/// Not to be copied: its request points into it.
struct ServingProblem {
  ServingProblem() = default;
  ServingProblem(const ServingProblem&) = delete;
  ServingProblem& operator=(const ServingProblem&) = delete;

  sim::Request request;
  std::vector<SequenceLengths> lengths;
  std::vector<int64_t> before;
  std::vector<int32_t> table;

  void share() {
    const Problem& problem = request.problem;
    const Tiling& tiling = request.tiling;
    const Schedule& schedule = request.schedule;
    int64_t items = item_count(problem, tiling, schedule);
    const auto tiles_of = [&](const Item& item) {
      return tiles_in_row(problem, tiling, request.sequences, item);
    };
    if (request.cascade) {
      const Cascade cascade(problem, tiling, request.sequences.prefix);
      items = cascade_item_count(problem, tiling, schedule, cascade);
      before.resize(size_t(items) + 1);
      sum_tiles_before(
          items,
          [&](int64_t i) {
            return tiles_of(
                cascade_item_at(problem, tiling, schedule, request.sequences, cascade, i));
          },
          before.data());
    } else {
      before.resize(size_t(items) + 1);
      fill_tiles_before(problem, tiling, schedule, request.sequences, items, before.data());
    }
    request.shares = ItemShares(before.data(), items, schedule.workers);
    request.schedule.launch = launch_id<StaticLaunch>;
  }

  /// Pages of `rows` keys in an order of their own, those of a prefix once for all.
  void page(int64_t rows, uint64_t seed) {
    const Problem& problem = request.problem;
    const Prefix& prefix = request.sequences.prefix;
    const int64_t stride = pages_for(problem.seq_kv, rows);
    std::vector<int64_t> place(size_t(problem.batch * stride));
    int64_t pages = 0;
    for (int64_t b = 0; b < problem.batch; ++b) {
      const int64_t own = pages_for(request.sequences.of(problem, b).seq_kv, rows);
      for (int64_t i = 0; i < own; ++i) {
        const bool elsewhere = !prefix.owns(b) && i * rows < prefix.keys;
        place[size_t(b * stride + i)] =
            elsewhere ? place[size_t(prefix.first_of_group(b) * stride + i)] : pages++;
      }
    }
    table.clear();
    for (const int64_t at : place)
      table.push_back(pages == 0 ? 0 : int32_t(PageOrder{true, seed}.page(at, pages)));
    request.sequences.pages = {
        .rows = rows, .table = table.data(), .stride = stride, .count = pages};
  }
};

/// What any_serving_problem() makes of a problem.
struct Serving {
  bool prefix = false, cascade = false, shares = false, pages = false;
};

inline void make_serving_problem(ServingProblem& serving, const Serving& what) {
  sim::Request& request = serving.request;
  request = any_request();
  Problem& problem = request.problem;
  Schedule& schedule = request.schedule;
  schedule.loop = Loop::kv_inner;
  problem.batch = between(1, 5);
  if (schedule.launch == launch_id<BalancedLaunch>) schedule.launch = launch_id<StaticLaunch>;
  if (what.shares || what.cascade) schedule.kv_split = 1;
  if (what.cascade) {
    if (schedule.scan == scan_id<AttachScan>) schedule.scan = scan_id<LinearScan>;
    if (problem.mask.kind == MaskKind::window) problem.mask = {};
  }
  request.tiling.kv_rows = int64_t{1} << between(0, 3);
  const int64_t page_rows = int64_t{1} << between(0, 4);
  const int64_t a_position = request.tiling.rows_a_position;
  if (what.cascade) {
    problem.seq_q = a_position * between(1, 3);
    request.tiling.q_rows = problem.seq_q * between(1, 4) + between(0, problem.seq_q - 1);
  }
  int64_t least_keys = 0;
  if (what.prefix) {
    const int64_t unit =
        what.pages ? max_of(page_rows, request.tiling.kv_rows) : request.tiling.kv_rows;
    request.sequences.prefix = {.keys = unit * between(1, 3), .group = between(1, problem.batch)};
    least_keys = request.sequences.prefix.keys;
    if (what.cascade) least_keys += problem.seq_q / a_position - 1;
  }
  problem.seq_kv = max_of(1, least_keys);
  for (int64_t b = 0; b < problem.batch; ++b) {
    const int64_t queries =
        what.cascade ? problem.seq_q : a_position * between(0, problem.seq_q / a_position);
    serving.lengths.push_back({queries, least_keys + between(0, 40)});
    problem.seq_kv = max_of(problem.seq_kv, serving.lengths.back().seq_kv);
  }
  serving.lengths.front().seq_q = problem.seq_q;
  request.sequences.lengths = serving.lengths.data();
  schedule.order.section = between(1, problem.batch * problem.heads * schedule.kv_split + 1);
  request.cascade = what.cascade;
  if (what.pages) serving.page(page_rows, uint64_t(between(0, 100)));
  if (what.shares) serving.share();
}

/// Any of them together.
inline void make_any_serving_problem(ServingProblem& serving) {
  Serving what{.prefix = between(0, 1) == 1,
               .cascade = false,
               .shares = between(0, 1) == 1,
               .pages = between(0, 1) == 1};
  what.cascade = what.prefix && between(0, 1) == 1;
  make_serving_problem(serving, what);
}

}  // namespace sawtooth::tests
