#include "experiments/sawtooth/search/measured_proof.hpp"

#include <algorithm>

#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// A prediction and a measurement are of one point where these agree; the kernel was chosen by the
// measurer.
bool is_of(const CsvRow& measured, const CsvRow& predicted) {
  for (size_t c = 0; c < key_column_count; ++c) {
    if (!joins(result_columns[c].kind)) continue;
    const bool is_file = predicted[c].starts_with("file:") && measured[c].starts_with("file:");
    if (!is_file && measured[c] != predicted[c]) return false;
  }
  return true;
}

std::vector<CsvRow> rows_in(const std::string& path) {
  const CsvTable table = read_csv(path);
  if (table.header.size() != result_columns.size())
    throw UsageError(path + ": its columns are not those of results.csv");
  return table.rows;
}

// The median of the rows of one candidate that have a number there.
std::optional<double> median_in(const std::vector<CsvRow>& rows, const CsvRow& predicted,
                                size_t column) {
  std::vector<double> values;
  for (const CsvRow& row : rows)
    if (is_of(row, predicted) && !row[column].empty()) values.push_back(std::stod(row[column]));
  if (values.empty()) return std::nullopt;
  return median_of(values);
}

std::string schedule_of(const Candidate& candidate) {
  std::string text;
  for (const char* key : {"launch", "scan", "q-order", "section", "workers"})
    if (const std::string value = candidate.point.text(key); !value.empty())
      text.append(text.empty() ? "" : ", ").append(key).append(" ").append(value);
  return text;
}

}  // namespace

Proof prove(const SearchedShape& searched, size_t most, const std::string& stem,
            const Measurer& measurer) {
  std::vector<const Verdict*> chosen;
  for (const Verdict& verdict : searched.verdicts)
    if (verdict.rank > 0 && chosen.size() < most) chosen.push_back(&verdict);
  const Verdict* usual = searched.usual_verdict();
  if (usual != nullptr && std::ranges::find(chosen, usual) == chosen.end()) chosen.push_back(usual);
  std::vector<const Candidate*> candidates;
  for (const Verdict* verdict : chosen) candidates.push_back(verdict->candidate);

  const std::string configuration = stem + ".measured.ini";
  OutputFile file(configuration);
  file.write(configuration_of(candidates));
  file.commit();
  const std::string times = stem + ".times.csv", counters = stem + ".counters.csv";
  Proof proof;
  proof.exit_code = measurer(configuration, times, counters);
  if (proof.exit_code != exit_fine && proof.exit_code != exit_check_failed) return proof;

  const std::vector<CsvRow> time_rows = rows_in(times), counter_rows = rows_in(counters);
  std::vector<std::pair<double, const Verdict*>> by_time;
  for (const Verdict* verdict : chosen) {
    const auto time = median_in(time_rows, verdict->row, result_column("time_us"));
    if (time) by_time.emplace_back(*time, verdict);
  }
  std::ranges::stable_sort(by_time, {}, [](const auto& entry) { return entry.first; });
  for (size_t i = 0; i < by_time.size(); ++i) {
    const auto& [time, verdict] = by_time[i];
    const auto reads = median_in(counter_rows, verdict->row, result_column("dram_read_sectors"));
    proof.measured[verdict->candidate] = {static_cast<int>(i) + 1, time, reads};
    if (verdict == searched.best()) proof.regret = time / by_time.front().first - 1;
    proof.report += "measured rank " + std::to_string(i + 1) + ", predicted " +
                    (verdict->rank > 0 ? std::to_string(verdict->rank) : "none") + ": " +
                    fixed(time, 2) + " us" +
                    (reads ? std::string(", ") + fixed(*reads, 0) + " DRAM read sectors" : "") +
                    "; " + schedule_of(*verdict->candidate) + "\n";
  }
  const bool has_best =
      searched.best() != nullptr && proof.measured.contains(searched.best()->candidate);
  if (has_best) proof.report.append("regret ").append(fixed(100 * proof.regret, 2)).append(" %\n");
  return proof;
}

}  // namespace sawtooth::experiments
