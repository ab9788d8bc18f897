#include "experiments/compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "experiments/result_row.hpp"
#include "experiments/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t kernel_place = 1;  // in join_columns()

struct Entry {
  CsvRow key;
  std::string group;
  bool published = false;
  std::map<std::string, std::vector<double>> values;
  bool joined = false;
};

size_t required_column(const CsvTable& table, std::string_view name) {
  const auto column = table.column(name);
  if (!column) {
    throw UsageError(table.path + ": has no column '" + std::string(name) +
                     "'; both tables need the columns of results.csv");
  }
  return *column;
}

double parse_number(const CsvTable& table, size_t row, size_t column) {
  const std::string& text = table.rows[row][column];
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    throw UsageError(table.path + ":" + std::to_string(table.line_of_row[row]) + ": " +
                     table.header[column] + ": '" + text + "' is not a number");
  }
  return value;
}

std::string family(const std::string& kernel) {
  return kernel.substr(0, kernel.find('-'));
}

// The points of a table, repetitions gathered.
std::vector<Entry> entries_of(const CsvTable& table, const std::vector<std::string>& counters,
                              bool grouped) {
  std::vector<size_t> key_columns;
  for (const std::string_view name : join_columns()) {
    key_columns.push_back(required_column(table, name));
  }
  const size_t source = required_column(table, "source");
  std::map<std::string, size_t> known;
  std::vector<Entry> entries;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const CsvRow& row = table.rows[r];
    Entry entry;
    for (const size_t column : key_columns) entry.key.push_back(row[column]);
    entry.key[kernel_place] = family(entry.key[kernel_place]);
    entry.published = row[source] == "published";
    if (grouped) {
      for (const std::string_view name : {"timing", "l2", "model"}) {
        const std::string& cell = row[required_column(table, name)];
        if (!entry.group.empty() && !cell.empty()) entry.group += ", ";
        entry.group += cell;
      }
    }
    const std::string identity = csv_line(entry.key) + entry.group + (entry.published ? "p" : "");
    const auto [place, is_new] = known.try_emplace(identity, entries.size());
    if (is_new) entries.push_back(std::move(entry));
    for (const std::string& counter : counters) {
      const auto column = table.column(counter);
      if (!column || row[*column].empty()) continue;
      entries[place->second].values[counter].push_back(parse_number(table, r, *column));
    }
  }
  return entries;
}

bool agree(const Entry& predicted, const Entry& measured) {
  for (size_t i = 0; i < predicted.key.size(); ++i) {
    const std::string& p = predicted.key[i];
    const std::string& m = measured.key[i];
    const bool open = (p.empty() && (predicted.published || i == kernel_place)) ||
                      (m.empty() && (measured.published || i == kernel_place));
    if (p != m && !open) return false;
  }
  return true;
}

double relative_error(double predicted, double measured) {
  if (measured != 0) return (predicted - measured) / measured;
  return predicted == 0 ? 0.0 : std::numeric_limits<double>::infinity();
}

void add_errors(Comparison& comparison, const Entry& predicted, const Entry& measured,
                const std::vector<std::string>& counters) {
  CsvRow key = measured.key;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].empty()) key[i] = predicted.key[i];
  }
  for (const std::string& counter : counters) {
    const auto p = predicted.values.find(counter);
    const auto m = measured.values.find(counter);
    if (p == predicted.values.end() || m == measured.values.end()) continue;
    PointError error{predicted.group, counter, key, median_of(p->second), median_of(m->second), 0};
    error.relative = relative_error(error.predicted, error.measured);
    comparison.errors.push_back(std::move(error));
  }
}

size_t count_alone(const std::vector<Entry>& entries) {
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.joined; }));
}

}  // namespace

std::vector<std::string_view> join_columns() {
  std::vector<std::string_view> columns{"gpu", "kernel", "pass"};
  for (size_t i = result_column("batch"); i <= result_column("state"); ++i) {
    columns.push_back(result_columns[i]);
  }
  return columns;
}

std::vector<std::string_view> comparable_columns() {
  std::vector<std::string_view> columns;
  for (size_t i = first_counter_column; i <= result_column("cold_read_sectors"); ++i) {
    columns.push_back(result_columns[i]);
  }
  columns.push_back("time_us");
  columns.push_back("tflops");
  return columns;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string>& counters) {
  auto left = entries_of(predicted, counters, true);
  auto right = entries_of(measured, counters, false);
  Comparison comparison;
  for (Entry& p : left) {
    for (Entry& m : right) {
      if (!agree(p, m)) continue;
      p.joined = m.joined = true;
      add_errors(comparison, p, m, counters);
    }
  }
  comparison.predicted_points = left.size();
  comparison.measured_points = right.size();
  comparison.predicted_alone = count_alone(left);
  comparison.measured_alone = count_alone(right);
  return comparison;
}

std::vector<ErrorSummary> summarise(const std::vector<PointError>& errors) {
  constexpr double ninety_percent = 0.9;
  std::map<std::pair<std::string, std::string>, std::vector<double>> sets;
  std::vector<ErrorSummary> summaries;
  for (const PointError& error : errors) {
    const auto [set, is_new] = sets.try_emplace({error.group, error.counter});
    if (is_new) summaries.push_back({error.group, error.counter});
    set->second.push_back(error.relative);
  }
  for (ErrorSummary& summary : summaries) {
    const auto& relative = sets.at({summary.group, summary.counter});
    std::vector<double> sizes;
    for (const double error : relative) sizes.push_back(std::abs(error));
    std::sort(sizes.begin(), sizes.end());
    const double rank = std::ceil(ninety_percent * static_cast<double>(sizes.size()));
    summary.points = sizes.size();
    summary.median = median_of(sizes);
    summary.ninety = sizes[static_cast<size_t>(rank) - 1];
    summary.worst = sizes.back();
    summary.signed_median = median_of(relative);
  }
  std::stable_sort(summaries.begin(), summaries.end(),
                   [](const auto& a, const auto& b) { return a.group < b.group; });
  return summaries;
}

}  // namespace sawtooth::experiments
