// What inference adds beside lengths: shared prefixes, cascades, pages of K and V, and parts of the
// K/V range as items of their own.
#pragma once

#include <memory>

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "scheduler/cascade.hpp"

namespace sawtooth::experiments {

/// Parts of the K/V range as items of their own, or equal shares of all of it (auto).
struct KvSplit {
  int64_t parts = 1;
  bool shares = false;
  friend bool operator==(const KvSplit&, const KvSplit&) = default;
};
inline void read_value(std::string_view text, KvSplit& split) {
  split = {.shares = text == automatic};
  if (!split.shares) read_value(text, split.parts);
}
inline std::string value_text(const KvSplit& split) {
  return split.shares ? std::string(automatic) : std::to_string(split.parts);
}

struct ServingKeys {
  int64_t prefix{};  // keys that a group shares; 0: none
  std::optional<int64_t> prefix_group;
  bool cascade{};
  int64_t page_rows{};     // 0: not paged
  std::string page_table;  // canonical (sequence_lengths.hpp)
  KvSplit kv_split{};

  struct PrefixNeeded {
    static constexpr std::string_view what = "prefix";
    static bool met(const ServingKeys& keys) { return keys.prefix > 0; }
  };
  struct PagesNeeded {
    static constexpr std::string_view what = "page-rows";
    static bool met(const ServingKeys& keys) { return keys.page_rows > 0; }
  };

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {
        {"q-lengths",
         {{"prefix", problem, count, field_with<Keys, &Keys::prefix, PrefixNeeded>(),
           sweep_commands, "0", "first keys that the sequences of a group share in memory", 0,
           most_keys},
          {"prefix-group", problem, count, field_with<Keys, &Keys::prefix_group, PrefixNeeded>(),
           sweep_commands, "", "with prefix: neighbouring sequences that share it (default: batch)",
           1, most_small},
          {"page-rows", problem, count, field_with<Keys, &Keys::page_rows, PagesNeeded>(),
           sweep_commands, "0", "keys of a page of K and V, 0: they are not paged", 0,
           most_rows_of_a_tile},
          {"page-table", problem, OptionKind::page_table,
           field_with<Keys, &Keys::page_table, PagesNeeded>(), sweep_commands, "identity",
           "with page-rows: which page has which keys"}}},
        {"prefetch",
         {{"kv-split", schedule, OptionKind::parts, field_of<Keys, &Keys::kv_split>(),
           sweep_commands, "1",
           "parts of an item's scan as items of their own, of the K/V range, backward of the heads "
           "that share K and V; auto: equal shares of all K/V work, one a worker",
           1, most_small},
          {"cascade", schedule, on_off, field_of<Keys, &Keys::cascade>(), sweep_commands, "off",
           "with prefix: its keys are scanned once for the queries of several sequences"}}}};
  }
  // kv_split stands among the columns that every point has.
  static constexpr auto columns = std::to_array<ResultColumn>({
      {"prefix", ColumnKind::optional},
      {"prefix_group", ColumnKind::optional},
      {"cascade", ColumnKind::optional, "off"},
      {"page_rows", ColumnKind::optional},
      {"page_table", ColumnKind::optional, "", true},
  });

  template <class Point>
  static void resolve_tiles(const Layers& layers, Point& point) {
    auto& keys = point.keys;
    auto& request = point.request;
    if (keys.prefix > 0) {
      if (!keys.prefix_group) keys.prefix_group = keys.batch;
      if (*keys.prefix_group > keys.batch)
        layers.fail("prefix-group",
                    "allowed: up to the number of sequences, " + std::to_string(keys.batch));
      request.sequences.prefix = {.keys = keys.prefix, .group = *keys.prefix_group};
    }
    layers.fail_for(sim::serving_fault(request));
    if (keys.page_rows == 0) return;
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

  template <class Point>
  static void resolve_items(const Layers& layers, Point& point) {
    auto& request = point.request;
    request.cascade = point.keys.cascade;
    layers.fail_for(sim::serving_fault(request));
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
    layers.fail_for(sim::serving_fault(request));
  }

  bool is_served() const { return prefix > 0 || page_rows > 0 || kv_split.shares || cascade; }
  bool in_use() const { return is_served(); }
  static constexpr std::string_view judged_points = "serving";
  static constexpr bool own_kernels = true;
};

}  // namespace sawtooth::experiments
