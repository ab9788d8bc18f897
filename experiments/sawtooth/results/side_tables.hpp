// The long tables beside results.csv: counters by tensor, the miss curve and reuse distances.
// Every row begins with run_id, which leads to the point's row in results.csv.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

std::string by_tensor_header();
/// A row a tensor: run_id, experiment, scan, tensor, and the ten counters of results.csv.
std::string by_tensor_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

std::string miss_curve_header();
/// A row for each capacity at which fewer sectors miss than just below it, from 0 bytes on; it
/// holds up to the next row's capacity. Prefetches count as reads.
std::string miss_curve_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

std::string histogram_header();
/// A row a tensor, access and distance; an empty distance is a first touch.
std::string histogram_rows(const CsvRow& key_cells, const sim::Prediction& prediction);

/// Those of the three tables that the options by-tensor, miss-curve and histogram ask for.
class SideTables {
 public:
  /// Opens their files; throws UsageError for one that cannot be written. What only makes rows for
  /// another process to write opens none.
  explicit SideTables(const Settings& outputs, bool writes = true);

  bool empty() const { return open_.empty(); }
  /// What a prediction adds to each of them; may be called from several threads.
  std::vector<std::string> rows(const CsvRow& key_cells, const sim::Prediction& prediction) const;
  void write(const std::vector<std::string>& rows);
  void commit();
  /// Gives the tables up and removes their temporary files.
  void abandon() { open_.clear(); }

 private:
  using Rows = std::string (*)(const CsvRow& key_cells, const sim::Prediction& prediction);
  struct Open {
    std::unique_ptr<OutputFile> file;
    Rows rows;
  };
  std::vector<Open> open_;
};

}  // namespace sawtooth::experiments
