// The long tables beside results.csv: counters by tensor, the miss curve and reuse distances.
// Every row begins with run_id, which leads to the point's row in results.csv.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "sim/prediction.hpp"

namespace sawtooth::experiments {

/// The table by-tensor, miss-curve or histogram of one prediction.
std::string side_table(std::string_view option, const CsvRow& key_cells,
                       const sim::Prediction& prediction);

/// Why these models have no table over capacities, and what is allowed; empty: they have.
std::string why_no_curve(const L2Model& l2, sim::Timing timing);
/// Throws UsageError for tables over capacities of models that count at one.
void refuse_idle_curves(const Settings& outputs, const L2Model& l2, sim::Timing timing);

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

 private:
  struct Open {
    std::unique_ptr<OutputFile> file;
    std::string (*rows)(const CsvRow& key_cells, const sim::Prediction& prediction);
  };
  std::vector<Open> open_;
};

}  // namespace sawtooth::experiments
