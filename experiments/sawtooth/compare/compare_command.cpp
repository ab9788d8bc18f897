// sawtooth compare PREDICTED MEASURED: prints the errors of every counter, and fails beyond
// --tolerance.
#include "experiments/sawtooth/compare/compare_command.hpp"

#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/compare/baselines.hpp"
#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/compare/compare_summary.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

std::vector<std::string> chosen_counters(const Settings& settings) {
  const auto known = comparable_columns();
  const std::string text = value_or(settings, "counters", "");
  if (text.empty()) return {known.begin(), known.end()};
  const auto chosen = split_list(text);
  for (const std::string& counter : chosen) {
    if (std::find(known.begin(), known.end(), counter) != known.end()) continue;
    std::string allowed;
    for (const std::string_view name : known) {
      allowed.append(allowed.empty() ? "" : ", ").append(name);
    }
    throw UsageError("--counters: '" + counter + "' is no counter; allowed: " + allowed);
  }
  return chosen;
}

constexpr std::string_view computed_here = "computed";

std::vector<CsvRow> keys_of(const std::vector<PointError>& errors) {
  std::vector<CsvRow> keys;
  for (const PointError& error : errors) keys.push_back(error.key);
  return keys;
}

// Errors of the baselines: computed for the joined points, or of the CSVs that were named.
std::vector<PointError> baseline_errors(const std::string& choice, const Comparison& comparison,
                                        const CsvTable& measured,
                                        const std::vector<std::string>& counters) {
  if (choice.empty()) return {};
  std::vector<CsvTable> tables;
  if (choice == computed_here) {
    tables.push_back(simulate_baselines(keys_of(comparison.errors)));
  } else {
    for (const std::string& path : split_list(choice)) tables.push_back(read_csv(path));
  }
  std::vector<PointError> errors;
  for (const CsvTable& table : tables) {
    const Comparison found = compare_tables(table, measured, counters);
    errors.insert(errors.end(), found.errors.begin(), found.errors.end());
  }
  return errors;
}

}  // namespace

int run_compare(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 2);
  if (parsed.operands.size() < 2) {
    throw UsageError("two CSVs are needed; usage: sawtooth compare PREDICTED MEASURED");
  }
  const auto counters = chosen_counters(parsed.settings);
  const std::string limit = value_or(parsed.settings, "tolerance", "");
  const Tolerances tolerances = limit.empty() ? Tolerances() : Tolerances::parse(limit);
  const CsvTable measured = read_csv(parsed.operands[1]);
  const Comparison comparison = compare_tables(read_csv(parsed.operands[0]), measured, counters);
  const auto baselines =
      baseline_errors(value_or(parsed.settings, "baselines", ""), comparison, measured, counters);

  std::vector<PointError> points = comparison.errors;
  points.insert(points.end(), baselines.begin(), baselines.end());
  const std::string summary = value_or(parsed.settings, "summary", "");
  if (!summary.empty()) {
    OutputFile file(summary);
    file.write(summary_table(comparison.errors, baselines));
    file.commit();
  }
  const std::string path = value_or(parsed.settings, "csv", "");
  std::ostream& report = path == "-" ? std::cerr : std::cout;
  if (path == "-") std::cout << error_table(points);
  if (!path.empty() && path != "-") {
    OutputFile file(path);
    file.write(error_table(points));
    file.commit();
  }
  report << report_text(comparison.errors, baselines, tolerances)
         << "did not join: " << comparison.predicted_alone << " of " << comparison.predicted_points
         << " predicted, " << comparison.measured_alone << " of " << comparison.measured_points
         << " measured points\n";
  if (comparison.errors.empty()) {
    std::cerr << "sawtooth: nothing to compare: no two points join and share a counter\n";
    return exit_check_failed;
  }
  return beyond(comparison.errors, tolerances) ? exit_check_failed : exit_fine;
}

}  // namespace sawtooth::experiments
