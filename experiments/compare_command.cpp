// sawtooth compare PREDICTED MEASURED: prints the errors of every counter, and fails beyond
// --tolerance.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "experiments/command_line.hpp"
#include "experiments/compare.hpp"
#include "experiments/exit_code.hpp"
#include "experiments/option_values.hpp"
#include "experiments/output_file.hpp"
#include "experiments/tolerances.hpp"
#include "experiments/usage_error.hpp"

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

std::string percent(double share, bool with_sign) {
  std::ostringstream text;
  if (with_sign) text << std::showpos;
  text << std::fixed << std::setprecision(2) << share * 100 << " %";
  return text.str();
}

std::string summary_text(const std::vector<ErrorSummary>& summaries, const Tolerances& tolerances) {
  constexpr int counter_width = 28;
  constexpr int width = 11;
  constexpr int last_width = 16;
  std::ostringstream out;
  std::string group = "\n";  // no group has this name
  for (const ErrorSummary& s : summaries) {
    if (s.group != group) {
      group = s.group;
      out << (group.empty() ? "no model named" : group) << "\n  " << std::left
          << std::setw(counter_width) << "relative error of" << std::right << std::setw(8)
          << "points" << std::setw(width) << "median" << std::setw(width) << "90 %"
          << std::setw(width) << "worst" << std::setw(last_width) << "signed median"
          << "\n";
    }
    const auto tolerance = tolerances.of(s.counter);
    out << "  " << std::left << std::setw(counter_width) << s.counter << std::right << std::setw(8)
        << s.points << std::setw(width) << percent(s.median, false) << std::setw(width)
        << percent(s.ninety, false) << std::setw(width) << percent(s.worst, false)
        << std::setw(last_width) << percent(s.signed_median, true)
        << (tolerance && s.worst > *tolerance ? "  beyond " + percent(*tolerance, false) : "")
        << "\n";
  }
  return out.str();
}

std::string error_table(const std::vector<PointError>& errors) {
  CsvRow header{"group", "counter", "predicted", "measured", "relative_error"};
  for (const std::string_view name : join_columns()) header.emplace_back(name);
  std::string text = csv_line(header);
  const auto number = [](double value) {
    std::ostringstream out;
    out << std::setprecision(17) << value;
    return out.str();
  };
  for (const PointError& error : errors) {
    CsvRow row{error.group, error.counter, number(error.predicted), number(error.measured),
               number(error.relative)};
    row.insert(row.end(), error.key.begin(), error.key.end());
    text += csv_line(row);
  }
  return text;
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
  const Comparison comparison =
      compare_tables(read_csv(parsed.operands[0]), read_csv(parsed.operands[1]), counters);
  const auto summaries = summarise(comparison.errors);

  const std::string path = value_or(parsed.settings, "csv", "");
  std::ostream& report = path == "-" ? std::cerr : std::cout;
  if (path == "-") std::cout << error_table(comparison.errors);
  if (!path.empty() && path != "-") {
    OutputFile file(path);
    file.write(error_table(comparison.errors));
    file.commit();
  }
  report << summary_text(summaries, tolerances) << "did not join: " << comparison.predicted_alone
         << " of " << comparison.predicted_points << " predicted, " << comparison.measured_alone
         << " of " << comparison.measured_points << " measured points\n";
  if (comparison.errors.empty()) {
    std::cerr << "sawtooth: nothing to compare: no two points join and share a counter\n";
    return exit_check_failed;
  }
  const bool fails = std::any_of(summaries.begin(), summaries.end(), [&](const ErrorSummary& s) {
    const auto tolerance = tolerances.of(s.counter);
    return tolerance && s.worst > *tolerance;
  });
  return fails ? exit_check_failed : exit_fine;
}

}  // namespace sawtooth::experiments
