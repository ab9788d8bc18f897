#include "experiments/sawtooth/compare/compare.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/statistics.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr std::string_view dram_reads = "dram_read_sectors";
constexpr std::string_view compulsory_reads = "cold_read_sectors";
constexpr double low_share = 0.05;
constexpr double high_share = 0.95;

struct Entry {
  CsvRow key;
  std::string group;
  std::string system;
  std::string source;
  std::map<std::string, std::vector<double>> values;
  bool joined = false;

  bool has(const std::string& counter) const { return values.contains(counter); }
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

// "lockstep, lru, 30 MiB, sawtooth 0.1.0 without merging": the columns of the model, then what a
// prediction was made with beside it.
std::string group_of(const CsvTable& table, const CsvRow& row) {
  constexpr int64_t mebibyte = 1 << 20;
  const std::string& version = row[required_column(table, "version")];
  if (version.starts_with(baseline_prefix)) return version;
  std::string group;
  const auto add = [&](const std::string& separator, const std::string& text) {
    group += (group.empty() ? "" : separator) + text;
  };
  for (const auto& [name, kind] : result_columns) {
    using enum ColumnKind;
    if (kind != model && kind != parameter && kind != made) continue;
    if (name == "judged") continue;  // what is said of a model is no part of it
    // A table may be older than a column that says how a row was made.
    const auto column = kind == made ? table.column(name) : required_column(table, name);
    if (!column || row[*column].empty()) continue;
    const std::string& cell = row[*column];
    if (name == "l2_bytes") {
      const bool whole = cell.size() < 19 && std::all_of(cell.begin(), cell.end(), [](char c) {
                           return c >= '0' && c <= '9';
                         });
      const bool mebibytes = whole && std::stoll(cell) % mebibyte == 0;
      add(", ", mebibytes ? std::to_string(std::stoll(cell) / mebibyte) + " MiB" : cell + " B");
    } else if (kind == model) {
      add(", ", cell);
    } else if (name == "version") {
      add(", ", "sawtooth " + cell);
    } else {
      add(" ", std::string(name) + " " + cell);
    }
  }
  return group;
}

// Whether some point is there with several seeds: they are no repetitions of each other.
bool has_seeds(const CsvTable& table, const std::vector<size_t>& key_columns) {
  const size_t seed = required_column(table, "seed");
  std::map<std::string, std::string> seed_of;
  for (const CsvRow& row : table.rows) {
    CsvRow point{group_of(table, row)};
    for (const size_t column : key_columns) point.push_back(row[column]);
    if (seed_of.try_emplace(csv_line(point), row[seed]).first->second != row[seed]) return true;
  }
  return false;
}

// The points of a table, repetitions gathered.
std::vector<Entry> entries_of(const CsvTable& table, std::vector<std::string> counters,
                              bool grouped) {
  for (const std::string_view needed : {dram_reads, compulsory_reads}) {
    if (std::find(counters.begin(), counters.end(), needed) == counters.end()) {
      counters.emplace_back(needed);
    }
  }
  std::vector<size_t> key_columns;
  for (const std::string_view name : join_columns()) {
    key_columns.push_back(required_column(table, name));
  }
  const size_t source = required_column(table, "source");
  const size_t system = required_column(table, "system");
  const bool with_seed = grouped && has_seeds(table, key_columns);
  std::map<std::string, size_t> known;
  std::vector<Entry> entries;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const CsvRow& row = table.rows[r];
    Entry entry;
    for (const size_t column : key_columns) entry.key.push_back(row[column]);
    std::string& kernel = entry.key[join_column("kernel")];
    kernel = family(kernel);
    entry.source = row[source];
    entry.system = row[system];
    if (grouped) entry.group = group_of(table, row);
    if (with_seed) entry.group += ", seed " + row[required_column(table, "seed")];
    const std::string identity =
        csv_line(entry.key) + entry.group + "|" + entry.system + "|" + entry.source;
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

// Whether an empty cell of `entry` in this column means "not known" and agrees with everything.
bool is_open(const Entry& entry, size_t place) {
  if (entry.source == "published" || place == join_column("kernel")) return true;
  const bool of_schedule = place >= join_column("tile_q") && place <= join_column("lse");
  const bool from_outside = entry.source == "measured" && !entry.system.empty() &&
                            entry.key[join_column("launch")].empty();
  return of_schedule && from_outside;
}

// Columns in which two points differ, `system` among them.
std::vector<std::string_view> differences(const Entry& predicted, const Entry& measured) {
  static const auto columns = join_columns();
  std::vector<std::string_view> apart;
  if (predicted.system != measured.system && !predicted.system.empty() && !measured.system.empty())
    apart.emplace_back("system");
  for (size_t i = 0; i < predicted.key.size(); ++i) {
    const std::string& p = predicted.key[i];
    const std::string& m = measured.key[i];
    const bool open = (p.empty() && is_open(predicted, i)) || (m.empty() && is_open(measured, i));
    if (p != m && !open) apart.push_back(columns[i]);
  }
  // What was measured from outside is that system's, not any kernel's of the same problem.
  const size_t launch = join_column("launch");
  const bool known_order = !measured.key[launch].empty() || measured.source == "published";
  if (!known_order && !predicted.key[launch].empty() && predicted.system != measured.system &&
      (apart.empty() || apart.front() != "system"))
    apart.emplace_back("system");
  return apart;
}

// What keeps predicted points from the measured ones that are nearest to them.
std::map<std::string_view, size_t> columns_apart(const std::vector<Entry>& predicted,
                                                 const std::vector<Entry>& measured) {
  std::map<std::string_view, size_t> points_of;
  for (const Entry& p : predicted) {
    if (p.joined || measured.empty()) continue;
    std::vector<std::string_view> least;
    for (const Entry& m : measured) {
      auto apart = differences(p, m);
      if (least.empty() || apart.size() < least.size()) least = std::move(apart);
    }
    for (const std::string_view column : least) ++points_of[column];
  }
  return points_of;
}

std::optional<double> relative_error(double predicted, double measured) {
  if (measured != 0) return (predicted - measured) / measured;
  return predicted == 0 ? std::optional<double>(0.0) : std::nullopt;
}

std::optional<double> over_compulsory(const Entry& predicted, const Entry& measured) {
  const auto reads = measured.values.find(std::string(dram_reads));
  const auto least = predicted.values.find(std::string(compulsory_reads));
  if (reads == measured.values.end() || least == predicted.values.end()) return std::nullopt;
  const double sectors = median_of(least->second);
  if (sectors == 0) return std::nullopt;
  return median_of(reads->second) / sectors;
}

std::optional<double> noise_of(const std::vector<double>& launches) {
  if (launches.size() < 2) return std::nullopt;
  std::vector<double> errors;
  for (size_t i = 0; i < launches.size(); ++i) {
    std::vector<double> others = launches;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const auto error = relative_error(median_of(std::move(others)), launches[i]);
    if (!error) return std::nullopt;
    errors.push_back(std::abs(*error));
  }
  return median_of(std::move(errors));
}

void add_errors(Comparison& comparison, const Entry& predicted, const Entry& measured,
                const std::vector<std::string>& counters) {
  CsvRow key = measured.key;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].empty()) key[i] = predicted.key[i];
  }
  for (const std::string& counter : counters) {
    if (!predicted.has(counter) || !measured.has(counter)) continue;
    const std::vector<double>& launches = measured.values.at(counter);
    PointError error{.group = predicted.group, .counter = counter, .key = key};
    error.predicted = median_of(predicted.values.at(counter));
    error.measured = median_of(launches);
    error.relative = relative_error(error.predicted, error.measured);
    error.low = quantile_of(launches, low_share);
    error.high = quantile_of(launches, high_share);
    error.launches = launches.size();
    error.noise = noise_of(launches);
    error.over_compulsory = over_compulsory(predicted, measured);
    comparison.errors.push_back(std::move(error));
  }
}

size_t count_alone(const std::vector<Entry>& entries) {
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return !e.joined; }));
}

}  // namespace

double PointError::spread() const {
  return measured == 0 ? 0 : (high - low) / measured;
}

size_t join_column(std::string_view name) {
  const auto columns = join_columns();
  const auto found = std::find(columns.begin(), columns.end(), name);
  return static_cast<size_t>(found - columns.begin());
}

std::vector<std::string_view> join_columns() {
  std::vector<std::string_view> columns;
  for (const auto& [name, kind] : result_columns)
    if (kind == ColumnKind::joined || kind == ColumnKind::kernel) columns.push_back(name);
  return columns;
}

std::vector<std::string> counters_named(const std::string& list, const std::string& place) {
  const auto known = comparable_columns();
  if (list.empty()) return {known.begin(), known.end()};
  const auto chosen = split_list(list);
  for (const std::string& counter : chosen) {
    if (std::find(known.begin(), known.end(), counter) != known.end()) continue;
    std::string allowed;
    for (const std::string_view name : known) {
      allowed.append(allowed.empty() ? "" : ", ").append(name);
    }
    throw UsageError(place + ": '" + counter + "' is no counter; allowed: " + allowed);
  }
  return chosen;
}

Comparison compare_tables(const CsvTable& predicted, const CsvTable& measured,
                          const std::vector<std::string>& counters) {
  auto left = entries_of(predicted, counters, true);
  auto right = entries_of(measured, counters, false);
  Comparison comparison;
  for (Entry& p : left) {
    for (Entry& m : right) {
      if (!differences(p, m).empty()) continue;
      p.joined = m.joined = true;
      add_errors(comparison, p, m, counters);
    }
  }
  comparison.predicted_points = left.size();
  comparison.measured_points = right.size();
  comparison.predicted_alone = count_alone(left);
  comparison.measured_alone = count_alone(right);
  comparison.apart = columns_apart(left, right);
  return comparison;
}

}  // namespace sawtooth::experiments
