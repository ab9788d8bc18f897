// sawtooth merge: joins the parts of a sweep. In memory there is an index of the rows, some hundred
// bytes each; rows are read again when they are written.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/simulate/simulated_points.hpp"
#include "experiments/sawtooth/support/content_hash.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t id_column = result_column("run_id");
constexpr size_t repetition_column = result_column("repetition");
constexpr size_t status_column = result_column("status");

// Twelve hexadecimal digits; another text stands for itself by its hash.
uint64_t number_of_id(std::string_view run_id) {
  constexpr int hexadecimal = 16;
  const auto number = number_of<uint64_t>(run_id, hexadecimal);
  return number ? *number : ContentHash().add(run_id).number();
}

// Two of a million points now and then have one run_id; their cells tell them apart.
bool is_one_point(const CsvRow& a, const CsvRow& b) {
  using enum ColumnKind;
  for (size_t i = 0; i < key_column_count; ++i) {
    const ColumnKind kind = result_columns[i].kind;
    const bool of_point = kind == point || joins(kind) || kind == model || kind == parameter;
    if (of_point && a[i] != b[i]) return false;
  }
  return a[repetition_column] == b[repetition_column];
}

class MergedTables {
 public:
  /// Adds the rows of a table. Of rows that agree in run_id and repetition one stays; a row with a
  /// result replaces one without. Throws UsageError for other columns than those of results.csv,
  /// and where two rows differ: it names point, column and both files.
  void add(const std::string& path) {
    CsvFile table(path);
    require_result_columns(table.header(), path + ": ",
                           "allowed: tables of one version of this program");
    const size_t file = records_.size();
    records_.add(path, std::ifstream(path, std::ios::binary));
    while (table.next()) {
      const CsvRow& cells = table.cells();
      if (entries_.empty()) is_measured_ = cells[result_column("source")] == "measured";
      const Entry now{table.place(file), TextKey(table.record()), 0, cells[status_column] == "ok"};
      const auto index = static_cast<uint32_t>(entries_.size());
      // Repetitions of a point form a chain.
      const auto [point, is_new] =
          chains_.try_emplace(number_of_id(cells[id_column]), Chain{index, index});
      const auto [like, is_first] = first_like_.try_emplace(
          ContentHash().add(cells[id_column] + ' ' + cells[repetition_column]).number(), index);
      const auto append = [&, &chain = point->second, follows = !is_new] {
        if (follows) entries_[chain.last].next = index + 1;
        chain.last = index;
        entries_.push_back(now);
      };
      if (is_new || is_first) {
        append();
        continue;
      }
      for (uint32_t at = like->second;;) {
        if (entries_[at].content == now.content ||
            is_one_point(records_.read(entries_[at]), cells)) {
          replace(entries_[at], now, cells);
          break;
        }
        if (entries_[at].next == 0) {
          append();
          break;
        }
        at = entries_[at].next - 1;
      }
    }
  }

  size_t rows() const { return entries_.size(); }
  size_t duplicates() const { return duplicates_; }
  /// Whether the first row was measured.
  bool is_measured() const { return is_measured_; }
  /// Marks the rows of the next point of a sweep; false where there is none with a result.
  bool take(const std::string& run_id) {
    const auto point = chains_.find(number_of_id(run_id));
    if (point == chains_.end()) return false;
    bool has_result = false;
    order_.push_back(point->second.first);
    for (uint32_t at = point->second.first + 1; at != 0; at = entries_[at - 1].next) {
      entries_[at - 1].is_taken = true;
      has_result = has_result || entries_[at - 1].has_result;
    }
    return has_result;
  }

  /// Parts of a sweep (--shard) as "I/N" that are not there, where each table is one: those of the
  /// `missing` points, without them all of the largest N that rows do not meet by chance.
  std::string missing_parts(const std::vector<uint64_t>& missing) const {
    constexpr size_t most_missing = 64;  // more parts than are given
    constexpr double chance = 1e-6;
    const size_t tables = records_.size();
    std::string parts;
    for (size_t count = tables + 1; count <= tables + most_missing; ++count) {
      std::map<uint64_t, uint32_t> table_of;  // by part, from 0 on
      const bool is_one_part = std::ranges::all_of(chains_, [&](const auto& point) {
        const uint32_t file = entries_[point.second.first].file;
        return table_of.try_emplace(point.first % count, file).first->second == file;
      });
      std::set<uint64_t> lost;
      for (const uint64_t number : missing) lost.insert(number % count);
      const auto is_there = [&](uint64_t part) { return table_of.contains(part); };
      if (!is_one_part || table_of.size() != tables || std::ranges::any_of(lost, is_there))
        continue;
      if (missing.empty()) {
        if (std::pow(double(count), double(tables) - double(chains_.size())) > chance) continue;
        for (uint64_t part = 0; part < count; ++part)
          if (!is_there(part)) lost.insert(part);
      }
      parts = join_list(lost, ", ", [&](uint64_t part) {
        return std::to_string(part + 1) + "/" + std::to_string(count);
      });
      if (!missing.empty()) break;
    }
    return parts;
  }

  /// The header, rows that were not taken, and those of points in the order in which they were.
  void write(std::ostream& out) {
    out << result_header();
    for (const Entry& entry : entries_)
      if (!entry.is_taken) out << records_.text(entry) << '\n';
    for (const uint32_t first : order_)
      for (uint32_t at = first + 1; at != 0; at = entries_[at - 1].next)
        out << records_.text(entries_[at - 1]) << '\n';
  }

 private:
  struct Entry : CsvPlace {
    TextKey content;
    uint32_t next = 0;  // of the same point: index + 1, or 0
    bool has_result = false, is_taken = false;
  };

  struct Chain {
    uint32_t first, last;
  };

  // Two rows of one point and repetition.
  void replace(Entry& known, const Entry& now, const CsvRow& cells) {
    if (known.content == now.content || (known.has_result && !now.has_result)) {
      ++duplicates_;
      return;
    }
    if (known.has_result == now.has_result && now.has_result) {
      const CsvRow before = records_.read(known);
      for (size_t column = 0; column < cells.size(); ++column) {
        if (before[column] == cells[column]) continue;
        throw UsageError(
            records_.path(known) + " and " + records_.path(now) + ": point " + cells[id_column] +
            " differs in " + std::string(result_columns[column].name) + ": '" + before[column] +
            "' and '" + cells[column] + "'; allowed: tables that agree where they meet");
      }
    }
    ++duplicates_;
    const uint32_t next = known.next;
    known = now;
    known.next = next;
  }

  CsvRecords records_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, Chain> chains_;  // by run_id
  // run_id and repetition -> index of the first row that has them, so that no chain is searched
  std::unordered_map<uint64_t, uint32_t> first_like_;
  std::vector<uint32_t> order_;  // first rows of points that were taken
  size_t duplicates_ = 0;
  bool is_measured_ = false;
};

// Puts rows in the order of the configuration; returns its points that have no result, and
// `numbers` their run_ids.
Failures take_points_of(const std::string& path, MergedTables& tables,
                        std::vector<uint64_t>& numbers) {
  const Configuration configuration = read_configuration(path);
  Failures missing;
  const auto lack = [&](const CsvRow& cells) {
    missing.add(row_without_result(cells, status_failed, "no row with a result"));
    numbers.push_back(number_of_id(run_id(cells)));
  };
  Catalog catalog;
  if (tables.is_measured()) {
    const PointList list(configuration, {});
    std::unordered_set<TextKey, TextKey::Hash> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      const CsvRow cells = measured_key_cells(resolve_or_refuse(list[i], catalog), "");
      const std::string id = run_id(cells);
      if (seen.insert(TextKey(id)).second && !tables.take(id)) lack(cells);
    }
    return missing;
  }
  SimulatedSweep sweep(sweep_arguments(configuration));
  SimulatedPoints points(sweep);
  while (const auto point = points.next())
    if (!tables.take(run_id(point->key_cells))) lack(point->key_cells);
  return missing;
}

}  // namespace

int run_merge(const Command& command, const Arguments& arguments) {
  const ParsedCommandLine parsed =
      parse_command_line(command, arguments, std::numeric_limits<size_t>::max());
  if (parsed.operands.empty()) throw UsageError("merge: name the tables to join");
  const std::string path = value_or(parsed.settings, "csv", "-");
  MergedTables tables;
  std::optional<OutputFile> out;
  std::ostream& rows = opened(path, out);
  for (const std::string& table : parsed.operands) tables.add(table);
  Failures missing;
  std::vector<uint64_t> numbers;
  const bool all_known = parsed.settings.contains("config");
  if (all_known) missing = take_points_of(value_or(parsed.settings, "config", ""), tables, numbers);
  tables.write(rows);
  if (out) out->commit();
  if (!is_on(parsed.settings, "quiet"))
    std::cerr << tables.rows() << " rows of " << parsed.operands.size() << " tables, "
              << tables.duplicates() << " of them twice\n";
  missing.print();
  const std::string parts = missing.empty() && all_known ? "" : tables.missing_parts(numbers);
  if (!parts.empty()) std::cerr << "missing: --shard " << parts << "\n";
  return missing.empty() ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
