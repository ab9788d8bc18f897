#include <unordered_map>

#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// That of an unknown kernel stands for every kernel.
std::string_view family(std::string_view kernel) {
  return kernel == unknown_kernel ? "" : kernel.substr(0, kernel.find('-'));
}

// "60 MiB", or "1000 B".
std::string capacity(const std::string& cell) {
  constexpr int64_t mebibyte = 1 << 20;
  const auto bytes = number_of<int64_t>(cell);
  return bytes && *bytes % mebibyte == 0 ? std::to_string(*bytes / mebibyte) + " MiB" : cell + " B";
}

// Sets the model and the group of a predicted row: the columns of the model, then what the
// prediction was made with beside it.
void name_model(const CsvRow& row, const std::map<std::string_view, size_t>& columns,
                ComparedPoint& point) {
  const auto add = [&point](std::string_view separator, std::string_view text) {
    point.group.append(point.group.empty() ? "" : separator).append(one_line(text));
  };
  for (const ResultColumn& column_of_results : result_columns) {
    const auto [name, kind] = std::pair(column_of_results.name, column_of_results.kind);
    if (kind != ColumnKind::model && kind != ColumnKind::parameter && kind != ColumnKind::made)
      continue;
    if (name == "judged") continue;  // what is said of a model is no part of it
    if (name == "version") point.model = point.group;
    const auto column = columns.find(name);
    if (column == columns.end() || row[column->second].empty()) continue;
    const std::string& cell = row[column->second];
    if (name == "l2_bytes")
      add(", ", capacity(cell));
    else if (kind == ColumnKind::model)
      add(", ", cell);
    else if (name == "version")
      add(", ", "sawtooth " + cell);
    else
      add(" ", std::string(name) + " " + cell);
  }
}

}  // namespace

std::string problem_of(CsvRow key) {
  for (size_t i = 0; i < key.size(); ++i)
    if (is_schedule_column(i)) key[i].clear();
  return csv_line(key);
}

std::string name_of(const CsvRow& key) {
  const auto cell = [&](std::string_view name) { return key[join_column(name)]; };
  return one_line(cell("gpu") + ", batch " + cell("batch") + ", heads " + cell("heads") + ", seq " +
                  cell("seq_q") + " x " + cell("seq_kv") + ", head dim " + cell("head_dim") +
                  ", mask " + cell("mask") + ", " + cell("launch") + ", " + cell("scan") + ", " +
                  cell("q_order"));
}

PointTable::PointTable(const CsvTable& table, Side side) : table_(table) {
  for (size_t i = 0; i < table.header.size(); ++i) by_name_.emplace(table.header[i], i);
  for (const std::string_view name : join_columns())
    columns_.push_back(may_be_missing(name) ? table.column(name) : required(name));
  columns_.emplace_back(required("system"));
  source_ = required("source");
  if (side == Side::predicted) {
    // A table may be older than a column that says how a row was made.
    for (const ResultColumn& known : result_columns)
      if (known.kind == ColumnKind::model || known.kind == ColumnKind::parameter)
        required(known.name);
    required("version");
    required("seed");
  }
  gather(side);
}

void PointTable::gather(Side side) {
  std::unordered_map<std::string, size_t> known;
  std::unordered_map<std::string, const std::string*> seeds;  // of points without theirs
  std::vector<const std::string*> seed_of;                    // of points
  bool has_seeds = false;
  for (size_t row = 0; row < table_.rows.size(); ++row) {
    ComparedPoint point{{row}};
    if (side == Side::predicted) name_model(table_.rows[row], by_name_, point);
    CsvRow identity{point.group, table_.rows[row][source_]};
    for (size_t place = 0; place <= system_place; ++place)
      identity.emplace_back(cell(point, place));
    std::string key = csv_line(identity);
    const std::string* seed = nullptr;
    if (side == Side::predicted) {
      seed = &table_.rows[row][by_name_.at("seed")];
      has_seeds = has_seeds || *seeds.try_emplace(key, seed).first->second != *seed;
      key += *seed;
    }
    const auto [place, is_new] = known.try_emplace(std::move(key), points_.size());
    if (!is_new) {
      points_[place->second].rows.push_back(row);
      continue;
    }
    point.open = open_columns(point);
    points_.push_back(std::move(point));
    seed_of.push_back(seed);
  }
  // Seeds of one point are no repetitions of each other, but where no point has several they are no
  // models either.
  for (size_t i = 0; has_seeds && i < points_.size(); ++i)
    points_[i].group += ", seed " + *seed_of[i];
}

size_t PointTable::required(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  throw UsageError(table_.path + ": has no column '" + std::string(name) +
                   "'; both tables need the columns of results.csv");
}

const std::string& PointTable::text(const ComparedPoint& point,
                                    std::optional<size_t> column) const {
  static const std::string none;
  return column ? table_.rows[point.rows.front()][*column] : none;
}

std::string_view PointTable::cell(const ComparedPoint& point, size_t place) const {
  const std::string& cell = text(point, columns_[place]);
  return place == join_column("kernel") ? family(cell) : cell;
}

const std::string& PointTable::source(const ComparedPoint& point) const {
  return text(point, source_);
}

// Which empty cells of a point mean "not known". A row that names no GPU joins nothing.
ColumnBits PointTable::open_columns(const ComparedPoint& point) const {
  const bool from_outside = source(point) == "measured" && !cell(point, system_place).empty() &&
                            cell(point, join_column("launch")).empty();
  ColumnBits open = 0;
  for (size_t i = 0; i <= system_place; ++i) {
    const bool is_unseen = is_schedule_column(i) || i == join_column("small_kernels");
    const bool may_be = i == system_place || i == join_column("kernel") ||
                        (source(point) == "published" && i != join_column("gpu")) ||
                        (from_outside && is_unseen);
    if (may_be && cell(point, i).empty()) open |= ColumnBits{1} << i;
  }
  return open;
}

std::vector<double> PointTable::values(const ComparedPoint& point, std::string_view column) const {
  std::vector<double> values;
  const auto place = by_name_.find(column);
  if (place == by_name_.end()) return values;
  for (const size_t row : point.rows) {
    const std::string& cell = table_.rows[row][place->second];
    if (cell.empty()) continue;
    const auto value = number_of<double>(cell);
    if (!value)
      throw UsageError(table_.place(row) + ": " + std::string(column) + ": '" + cell +
                       "' is not a number");
    values.push_back(*value);
  }
  return values;
}

std::string PointTable::place_of(const ComparedPoint& point) const {
  return table_.place(point.rows.front());
}

}  // namespace sawtooth::experiments
