// The columns of results.csv, for predictions and measurements alike (docs/results-csv.md), and
// the row of a prediction.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "sim/simulate.hpp"

namespace sawtooth::experiments {

inline constexpr auto result_columns = std::to_array<std::string_view>(
    {"experiment", "source", "gpu", "system", "kernel", "pass",
     // problem
     "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "dtype", "mask",
     // schedule
     "tile_q", "tile_kv", "section", "q_order", "head_order", "launch", "workers", "ctas_per_sm",
     "scan", "prefetch", "kv_split", "loop", "lse",
     // where and how
     "hints", "state", "timing", "l2", "l2_bytes", "model", "seed",
     // what came out
     "repetition", "sm_read_sectors", "l2_read_sectors", "l2_read_miss_sectors", "l2_write_sectors",
     "l2_write_miss_sectors", "fabric_read_sectors", "fabric_read_miss_sectors",
     "dram_read_sectors", "dram_write_sectors", "cold_read_sectors", "time_us", "profiled_time_us",
     "tflops", "replay_passes", "status", "run_id"});

/// What stands in the column model of a prediction.
inline constexpr std::string_view model_name = "sawtooth " SAWTOOTH_VERSION;

/// Index of a column; does not compile for a name that is not there.
consteval size_t result_column(std::string_view name) {
  for (size_t i = 0; i < result_columns.size(); ++i) {
    if (result_columns[i] == name) return i;
  }
  throw "no such column";
}

/// The first columns, experiment to seed, say what a row is about; the rest came out of it.
inline constexpr size_t key_column_count = result_column("repetition");
inline constexpr size_t first_counter_column = result_column("sm_read_sectors");

/// The ten counters from sm_read_sectors to cold_read_sectors, empty where not modelled.
CsvRow counter_cells(const sim::Counters& counters);

/// Cells experiment to seed of a point.
CsvRow key_cells(const Point& point, std::string_view experiment, std::string_view source);

/// Twelve hexadecimal digits that stand for the resolved point: a hash of the key cells without
/// experiment, source, kernel and model, so that a prediction and a measurement of a point agree
/// on it where their keys do.
std::string run_id(const CsvRow& key_cells);

CsvRow predicted_row(const CsvRow& key_cells, const sim::Counters& counters);
/// With duration and TFLOP/s where the prediction has them; `flop` is the whole point's.
CsvRow predicted_row(const CsvRow& key_cells, const sim::Prediction& prediction, double flop);

std::string result_header();

}  // namespace sawtooth::experiments
