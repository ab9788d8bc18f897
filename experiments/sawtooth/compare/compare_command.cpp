// sawtooth compare PREDICTED MEASURED: prints the errors of every counter, and fails beyond
// --tolerance.
#include "experiments/sawtooth/compare/compare_command.hpp"

#include <iostream>
#include <optional>

#include "experiments/sawtooth/compare/baselines.hpp"
#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/compare/compare_summary.hpp"
#include "experiments/sawtooth/compare/no_worse.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

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

// Misses, unless counters are named.
int run_no_worse(const ParsedCommandLine& parsed, const std::string& kept) {
  if (parsed.operands.size() != 1)
    throw UsageError(
        "--no-worse-than: takes one CSV beside it; usage: sawtooth compare "
        "PREDICTED --no-worse-than FILE");
  const auto counters = counters_named(
      value_or(parsed.settings, "counters", "l2_read_miss_sectors,dram_read_sectors"),
      "--counters");
  const std::string limit = value_or(parsed.settings, "tolerance", "");
  const NoWorse found =
      compare_with_kept(read_csv(parsed.operands.front()), read_csv(kept), counters,
                        limit.empty() ? Tolerances() : Tolerances::parse(limit));
  for (const auto* lines : {&found.worse, &found.missing})
    for (const std::string& line : *lines) std::cout << line << "\n";
  std::cout << found.compared << (found.compared == 1 ? " point, " : " points, ")
            << found.worse.size() << " worse, " << found.missing.size() << " missing\n";
  const bool good = found.compared > 0 && found.worse.empty() && found.missing.empty();
  return good ? exit_fine : exit_check_failed;
}

}  // namespace

int run_compare(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 2);
  const std::string kept = value_or(parsed.settings, "no-worse-than", "");
  if (!kept.empty()) return run_no_worse(parsed, kept);
  if (parsed.operands.size() < 2) {
    throw UsageError("two CSVs are needed; usage: sawtooth compare PREDICTED MEASURED");
  }
  const auto counters = counters_named(value_or(parsed.settings, "counters", ""), "--counters");
  const std::string limit = value_or(parsed.settings, "tolerance", "");
  const Tolerances tolerances = limit.empty() ? Tolerances() : Tolerances::parse(limit);
  // Opened before the work, which may take minutes.
  const std::string summary_path = value_or(parsed.settings, "summary", "");
  const std::string path = value_or(parsed.settings, "csv", "");
  std::optional<OutputFile> summary, errors;
  if (!summary_path.empty()) summary.emplace(summary_path);
  if (!path.empty() && path != "-") errors.emplace(path);
  const CsvTable measured = read_csv(parsed.operands[1]);
  const Comparison comparison = compare_tables(read_csv(parsed.operands[0]), measured, counters);
  const auto baselines =
      baseline_errors(value_or(parsed.settings, "baselines", ""), comparison, measured, counters);

  std::vector<PointError> points = comparison.errors;
  points.insert(points.end(), baselines.begin(), baselines.end());
  if (summary) {
    summary->write(summary_table(comparison.errors, baselines));
    summary->commit();
  }
  std::ostream& report = path == "-" ? std::cerr : std::cout;
  if (path == "-") std::cout << error_table(points);
  if (errors) {
    errors->write(error_table(points));
    errors->commit();
  }
  report << report_text(comparison.errors, baselines, tolerances)
         << "did not join: " << comparison.predicted_alone << " of " << comparison.predicted_points
         << " predicted, " << comparison.measured_alone << " of " << comparison.measured_points
         << " measured points\n";
  for (const auto& [column, count] : comparison.apart)
    report << "  kept apart by " << column << ": " << count
           << (count == 1 ? " point\n" : " points\n");
  if (comparison.errors.empty()) {
    std::cerr << "sawtooth: nothing to compare: no two points join and share a counter\n";
    return exit_check_failed;
  }
  return beyond(comparison.errors, tolerances) ? exit_check_failed : exit_fine;
}

}  // namespace sawtooth::experiments
