#include "experiments/sawtooth/inputs/serving.hpp"

#include "experiments/sawtooth/inputs/page_table.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "scheduler/cascade.hpp"
#include "sim/schedule/limits.hpp"

namespace sawtooth::experiments {
namespace {

void fail_for(const Layers& layers, const sim::Request& request) {
  if (const auto fault = sim::serving_fault(request))
    layers.fail(std::string(fault->key), std::string(fault->what));
}

}  // namespace

void resolve_prefix_and_pages(const Layers& layers, Point& point) {
  Keys& keys = point.keys;
  sim::Request& request = point.request;
  if (keys.prefix == 0) {
    if (layers.is_given("prefix-group"))
      layers.fail("prefix-group", "has no effect without prefix");
  } else {
    if (!keys.prefix_group) keys.prefix_group = keys.batch;
    if (*keys.prefix_group > keys.batch)
      layers.fail("prefix-group",
                  "allowed: up to the number of sequences, " + std::to_string(keys.batch));
    request.sequences.prefix = {.keys = keys.prefix, .group = *keys.prefix_group};
  }
  fail_for(layers, request);
  if (keys.page_rows == 0) {
    if (layers.is_given("page-table")) layers.fail("page-table", "has no effect without page-rows");
    return;
  }
  auto table = page_table_of(keys.page_table, request.problem, request.sequences, keys.page_rows);
  if (keys.page_table.starts_with("file:")) {
    ContentHash content;
    for (const int32_t page : table.entries) content.add_number(page);
    point.contents["page-table"] = content.text(content_digits);
  }
  point.page_table = std::make_shared<const std::vector<int32_t>>(std::move(table.entries));
  request.sequences.pages = {.rows = keys.page_rows,
                             .table = point.page_table->data(),
                             .stride = table.stride,
                             .count = table.count};
}

void resolve_shares(const Layers& layers, Point& point) {
  sim::Request& request = point.request;
  request.cascade = point.keys.cascade;
  fail_for(layers, request);
  if (!point.keys.kv_split.shares) return;
  const Problem& problem = request.problem;
  const Tiling& tiling = request.tiling;
  const Schedule& schedule = request.schedule;
  const Sequences& sequences = request.sequences;
  const Cascade cascade(problem, tiling, sequences.prefix);
  const int64_t items = request.cascade ? cascade_item_count(problem, tiling, schedule, cascade)
                                        : item_count(problem, tiling, schedule);
  std::vector<int64_t> before(static_cast<size_t>(items) + 1);
  const auto tiles_of = [&](int64_t index) {
    const Item item = request.cascade
                          ? cascade_item_at(problem, tiling, schedule, sequences, cascade, index)
                          : item_at(problem, tiling, schedule, sequences, index);
    return tiles_in_row(problem, tiling, sequences, item);
  };
  sum_tiles_before(items, tiles_of, before.data());
  point.tiles_before = std::make_shared<const std::vector<int64_t>>(std::move(before));
  request.shares = ItemShares(point.tiles_before->data(), items, schedule.workers);
  fail_for(layers, request);
}

}  // namespace sawtooth::experiments
