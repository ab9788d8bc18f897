// The columns of results.csv, for predictions and measurements alike (docs/reference/columns.md):
// the one list of them, which `sawtooth --csv-header` prints.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/counters.hpp"

namespace sawtooth::experiments {

/// What a column says, and so which commands look at it.
enum class ColumnKind : uint8_t {
  label,      // a name of the row; part of no comparison
  point,      // of the point, and of its run_id
  joined,     // the same, and a prediction and a measurement join where it agrees
  optional,   // as joined; not of the run_id where it is empty, as in tables from before it
  kernel,     // joined by family; not of the run_id, as a prediction may leave it open
  model,      // of the model of a prediction, and of the run_id
  parameter,  // of the L2 model; of the run_id where it is not empty
  content,    // of the files that the point uses; of the run_id
  made,       // how a prediction was made otherwise; of the run_id where it is not empty
  result,     // what came out
  interval,   // where that lies in 90 % of points, of a prediction that knows
};

struct ResultColumn {
  std::string_view name;
  ColumnKind kind;
};

/// Whether a prediction and a measurement of one point agree in columns of this kind.
constexpr bool joins(ColumnKind kind) {
  return kind == ColumnKind::joined || kind == ColumnKind::optional;
}

namespace columns_in_order {

using enum ColumnKind;

// Cells of these that are named like an option say its resolved value.
inline constexpr auto before_counters = std::to_array<ResultColumn>({
    {"experiment", label},
    {"source", label},
    {"gpu", joined},
    {"system", point},
    {"kernel", kernel},
    {"pass", joined},
    {"batch", joined},
    {"heads", joined},
    {"kv_heads", joined},
    {"seq_q", joined},
    {"seq_kv", joined},
    {"head_dim", joined},
    {"dtype", joined},
    {"mask", joined},
    {"tile_q", joined},
    {"tile_kv", joined},
    {"section", joined},
    {"q_order", joined},
    {"head_order", joined},
    {"launch", joined},
    {"workers", joined},
    {"ctas_per_sm", joined},
    {"scan", joined},
    {"prefetch", joined},
    {"kv_split", joined},
    {"loop", joined},
    {"lse", joined},
    {"hints", joined},
    {"state", joined},
    {"dq", optional},
    {"small_kernels", optional},
    {"pack_gqa", optional},
    {"lengths", optional},
    {"q_lengths", optional},
    {"sequence_order", optional},
    {"prefix", optional},
    {"prefix_group", optional},
    {"cascade", optional},
    {"page_rows", optional},
    {"page_table", optional},
    {"ring", optional},
    {"ring_order", optional},
    {"ring_mover", optional},
    {"ring_rank", optional},
    {"ring_step", optional},
    {"head_shards", optional},
    {"exchange", optional},
    {"timing", model},
    {"l2", model},
    {"l2_bytes", model},
    {"l2_ways", parameter},
    {"l2_line_bytes", parameter},
    {"l2_hash", parameter},
    {"l2_hash_matrix", parameter},
    {"l2_policy", parameter},
    {"l2_set_aside", parameter},
    {"version", made},
    {"without", made},
    {"launches", made},
    {"costs", made},
    {"judged", made},
    {"inputs", content},
    {"seed", point},
    {"repetition", result},
});
inline constexpr auto after_counters = std::to_array<ResultColumn>({
    {"time_us", result},
    {"profiled_time_us", result},
    {"tflops", result},
    {"transfer_us", result},
    {"exposed_us", result},
    {"of_ideal", result},
    {"replay_passes", result},
    {"l2_read_sectors_low", interval},
    {"l2_read_sectors_high", interval},
    {"l2_read_miss_sectors_low", interval},
    {"l2_read_miss_sectors_high", interval},
    {"fabric_read_sectors_low", interval},
    {"fabric_read_sectors_high", interval},
    {"fabric_read_miss_sectors_low", interval},
    {"fabric_read_miss_sectors_high", interval},
    {"dram_read_sectors_low", interval},
    {"dram_read_sectors_high", interval},
    {"dram_write_sectors_low", interval},
    {"dram_write_sectors_high", interval},
    {"time_us_low", interval},
    {"time_us_high", interval},
    {"status", result},
    {"message", result},
    {"run_id", result},
});

}  // namespace columns_in_order

/// The columns in the order of the file; the counters are those of sim/counters.hpp.
inline constexpr auto result_columns = [] {
  using namespace columns_in_order;
  constexpr size_t counters = sim::counter_columns.size();
  std::array<ResultColumn, before_counters.size() + counters + after_counters.size()> all{};
  auto end = std::ranges::copy(before_counters, all.begin()).out;
  for (const sim::CounterColumn& counter : sim::counter_columns)
    *end++ = {counter.name, ColumnKind::result};
  std::ranges::copy(after_counters, end);
  return all;
}();

/// Index of a column; does not compile for a name that is not there.
consteval size_t result_column(std::string_view name) {
  for (size_t i = 0; i < result_columns.size(); ++i) {
    if (result_columns[i].name == name) return i;
  }
  throw "no such column";
}

/// Whether a table may be older than the column, and then has it empty.
constexpr bool may_be_missing(std::string_view name) {
  return std::ranges::any_of(result_columns, [&](const ResultColumn& column) {
    return column.name == name &&
           (column.kind == ColumnKind::optional || column.kind == ColumnKind::interval);
  });
}

/// The first columns, experiment to seed, say what a row is about; the rest came out of it.
inline constexpr size_t key_column_count = result_column("repetition");
inline constexpr size_t first_counter_column = result_column("repetition") + 1;

}  // namespace sawtooth::experiments
