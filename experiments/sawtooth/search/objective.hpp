// What a search minimises, under which constraints, and how much it may spend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// A column of results.csv that a prediction fills with a number.
struct Objective {
  size_t column = 0;
  std::string name;
};

inline const Objective time_objective{result_column("time_us"), "time_us"};
inline const Objective dram_objective{result_column("dram_read_sectors"), "dram_read_sectors"};

/// A counter's column or time_us; `time` is short for it. Throws UsageError that begins with
/// `place`.
Objective objective_named(std::string_view name, const std::string& place);

/// COLUMN<=NUMBER, or COLUMN<=NUMBER*best: times the least value of the shape.
struct Constraint {
  Objective objective;
  double limit = 0;
  bool of_best = false;
};
std::vector<Constraint> constraints_in(const std::string& list, const std::string& place);

/// For every shape so many evaluations by the deciding model; or for all shapes together so many
/// seconds of one core, by an estimate that does not depend on the machine.
struct Budget {
  std::optional<int64_t> evaluations;
  std::optional<double> seconds;
};
Budget budget_of(const std::string& text, const std::string& place);

/// The number in a cell of a row that has a result; nothing where it is empty.
std::optional<double> value_in(const CsvRow& row, const Objective& objective);

}  // namespace sawtooth::experiments
