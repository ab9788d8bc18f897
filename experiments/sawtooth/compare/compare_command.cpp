// sawtooth compare PREDICTED MEASURED: prints the errors of every counter, and fails beyond
// --tolerance.
#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t most_reasons = 5;  // in a report

// Misses, unless counters are named.
int run_no_worse(const ParsedCommandLine& parsed, const std::string& kept,
                 const Tolerances& tolerances) {
  if (parsed.operands.size() != 1)
    throw UsageError(
        "--no-worse-than: takes one CSV beside it; usage: sawtooth compare "
        "PREDICTED --no-worse-than FILE");
  const auto counters = counters_named(
      value_or(parsed.settings, "counters", "l2_read_miss_sectors,dram_read_sectors"),
      "--counters");
  const NoWorse found =
      compare_with_kept(read_csv(parsed.operands.front()), read_csv(kept), counters, tolerances);
  for (const auto* lines : {&found.worse, &found.missing})
    for (const std::string& line : *lines) std::cout << one_line(line) << "\n";
  std::cout << how_many(found.compared, "point") << ", " << found.worse.size() << " worse, "
            << found.missing.size() << " missing\n";
  const bool good = found.compared > 0 && found.worse.empty() && found.missing.empty();
  return good ? exit_fine : exit_check_failed;
}

void report_alone(std::ostream& out, const Comparison& comparison) {
  out << "did not join: " << comparison.predicted_alone << " of " << comparison.predicted_points
      << " predicted, " << comparison.measured_alone << " of " << comparison.measured_points
      << " measured points\n";
  if (comparison.looked_at < comparison.predicted_alone && !comparison.apart.empty())
    out << "  of the first " << comparison.looked_at << " of these predicted points:\n";
  // Those that keep most points apart first.
  std::vector<std::pair<size_t, std::string>> reasons;
  for (const auto& [column, apart] : comparison.apart)
    reasons.emplace_back(apart.points, std::string(column) + " (" +
                                           how_many(apart.points, "point") +
                                           "): " + one_line(apart.cells));
  std::ranges::stable_sort(reasons, std::greater(), &std::pair<size_t, std::string>::first);
  for (size_t i = 0; i < std::min(most_reasons, reasons.size()); ++i)
    out << (i == 0 ? "  kept apart by " : "; ") << reasons[i].second;
  if (reasons.size() > most_reasons)
    out << "; and " << reasons.size() - most_reasons << " more columns";
  out << (reasons.empty() ? "" : "\n");
}

}  // namespace

int run_compare(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed = parse_command_line(command, arguments, 2);
  const std::string limit = value_or(parsed.settings, "tolerance", "");
  const Tolerances tolerances = limit.empty() ? Tolerances() : Tolerances::parse(limit);
  const std::string kept = value_or(parsed.settings, "no-worse-than", "");
  if (!kept.empty()) return run_no_worse(parsed, kept, tolerances);
  if (parsed.operands.size() < 2)
    throw UsageError("two CSVs are needed; usage: sawtooth compare PREDICTED MEASURED");
  const auto counters = counters_named(value_or(parsed.settings, "counters", ""), "--counters");
  // Opened before the work.
  const std::string summary_path = value_or(parsed.settings, "summary", "");
  const std::string path = value_or(parsed.settings, "csv", "");
  std::optional<OutputFile> summary, errors;
  if (!summary_path.empty()) summary.emplace(summary_path);
  std::ostream* const rows = path.empty() ? nullptr : &opened(path, errors);
  const Comparison comparison =
      compare_tables(read_csv(parsed.operands[0]), read_csv(parsed.operands[1]), counters);
  if (summary) {
    summary->write(summary_table(comparison.errors));
    summary->commit();
  }
  if (rows != nullptr) write_error_table(*rows, comparison.errors);
  if (errors) errors->commit();
  std::ostream& report = path == "-" ? std::cerr : std::cout;
  report << report_text(comparison.errors, tolerances);
  report_alone(report, comparison);
  if (comparison.errors.empty()) {
    std::cerr << "sawtooth: nothing to compare: no two points join and share a counter\n";
    return exit_check_failed;
  }
  return beyond(comparison.errors, tolerances) ? exit_check_failed : exit_fine;
}

}  // namespace sawtooth::experiments
