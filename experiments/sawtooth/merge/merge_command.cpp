#include <iostream>
#include <limits>
#include <unordered_set>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/merge/merge_tables.hpp"
#include "experiments/sawtooth/results/failures.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Puts rows in the order of the configuration; returns its points that have no result.
Failures take_points_of(const std::string& path, MergedTables& tables) {
  const Configuration configuration = read_configuration(path);
  const Settings outputs = output_settings(configuration, {});
  Failures missing;
  Catalog catalog;
  if (tables.is_measured()) {
    const PointList list(configuration, {});
    std::unordered_set<TextKey, TextKey::Hash> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      const CsvRow cells =
          measured_key_cells(resolve_or_refuse(measured_settings(list[i]), catalog), "");
      const std::string id = run_id(cells);
      if (seen.insert(TextKey(id)).second && !tables.take(id))
        missing.add(row_without_result(cells, status_failed, "no row with a result"));
    }
    return missing;
  }
  SimulatedSweep sweep(configuration, {}, outputs);
  SimulatedPoints points(sweep);
  while (const auto point = points.next())
    if (!tables.take(run_id(point->key_cells)))
      missing.add(row_without_result(point->key_cells, status_failed, "no row with a result"));
  return missing;
}

}  // namespace

int run_merge(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed =
      parse_command_line(command, arguments, std::numeric_limits<size_t>::max());
  if (parsed.operands.empty()) throw UsageError("merge: name the tables to join");
  const std::string path = value_or(parsed.settings, "csv", "-");
  MergedTables tables;
  for (const std::string& table : parsed.operands) tables.add(table);
  Failures missing;
  if (parsed.settings.contains("config"))
    missing = take_points_of(value_or(parsed.settings, "config", ""), tables);
  if (path == "-") {
    tables.write(std::cout);
  } else {
    OutputFile out(path);
    tables.write(out.stream());
    out.commit();
  }
  if (!is_on(parsed.settings, "quiet"))
    std::cerr << tables.rows() << " rows of " << parsed.operands.size() << " tables, "
              << tables.duplicates() << " of them twice\n";
  missing.print();
  return missing.empty() ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
