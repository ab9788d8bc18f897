// sawtooth compare PREDICTED MEASURED: prints the errors of every counter, and fails beyond
// --tolerance.
#include "experiments/sawtooth/compare/compare_command.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

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

// Each once, in the order of their first errors.
std::vector<CsvRow> keys_of(const Comparison& comparison) {
  std::vector<CsvRow> keys;
  std::unordered_set<uint32_t> seen;
  for (const PointError& error : comparison.errors)
    if (seen.insert(error.point->key.number()).second) keys.push_back(error.point->key.row());
  return keys;
}

// Comparisons with baselines: computed for the joined points, or of the CSVs that were named.
std::vector<Comparison> baseline_comparisons(const std::string& choice,
                                             const Comparison& comparison,
                                             const ComparedPoints& measured,
                                             const std::vector<std::string_view>& counters) {
  std::vector<Comparison> found;
  if (choice.empty()) return found;
  const auto compare = [&](auto&& table) {
    const ComparedPoints predicted(std::forward<decltype(table)>(table), measured.counters(),
                                   Side::predicted, measured.keys());
    found.push_back(compare_points(predicted, measured, counters));
  };
  if (choice == computed_here)
    compare(simulate_baselines(keys_of(comparison)));
  else
    for (const std::string& path : split_list(choice)) compare(CsvFile(path));
  return found;
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
  CsvFile predicted_rows(parsed.operands[0]), measured_rows(parsed.operands[1]);
  std::optional<Comparison> compared;
  std::vector<Comparison> rivals;
  {  // tables are needed no longer when errors are summed up
    const auto keys = std::make_shared<PointKeys>();
    const auto columns = compared_columns(counters);
    const ComparedPoints measured(std::move(measured_rows), columns, Side::measured, keys);
    compared =
        compare_points(ComparedPoints(std::move(predicted_rows), columns, Side::predicted, keys),
                       measured, counters);
    rivals = baseline_comparisons(value_or(parsed.settings, "baselines", ""), *compared, measured,
                                  counters);
  }
  const Comparison& comparison = *compared;
  std::vector<PointError> baselines;
  for (const Comparison& rival : rivals)
    baselines.insert(baselines.end(), rival.errors.begin(), rival.errors.end());

  if (summary) {
    summary->write(summary_table(comparison.errors, baselines));
    summary->commit();
  }
  std::ostream& report = path == "-" ? std::cerr : std::cout;
  if (path == "-") write_error_table(std::cout, {&comparison.errors, &baselines});
  if (errors) {
    write_error_table(errors->stream(), {&comparison.errors, &baselines});
    errors->commit();
  }
  report << report_text(comparison.errors, baselines, tolerances)
         << "did not join: " << comparison.predicted_alone << " of " << comparison.predicted_points
         << " predicted, " << comparison.measured_alone << " of " << comparison.measured_points
         << " measured points\n";
  const ColumnsApart& apart = comparison.apart;
  if (apart.looked_at < comparison.predicted_alone && !apart.points.empty())
    report << "  of the first " << apart.looked_at << " of these predicted points:\n";
  for (const auto& [column, count] : apart.points)
    report << "  kept apart by " << column << ": " << count
           << (count == 1 ? " point\n" : " points\n");
  if (comparison.errors.empty()) {
    std::cerr << "sawtooth: nothing to compare: no two points join and share a counter\n";
    return exit_check_failed;
  }
  return beyond(comparison.errors, tolerances) ? exit_check_failed : exit_fine;
}

}  // namespace sawtooth::experiments
