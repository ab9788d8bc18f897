#include "experiments/sawtooth/compare/compared_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr uint32_t no_row = UINT32_MAX;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

double parse_number(const std::string& text, const std::string& path, int line,
                    const std::string& column) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value))
    throw UsageError(path + ":" + std::to_string(line) + ": " + column + ": '" + text +
                     "' is not a number");
  return value;
}

std::string_view family(std::string_view kernel) {
  return kernel.substr(0, kernel.find('-'));
}

// Finds columns of one table.
class Header {
 public:
  Header(const CsvRow& names, const std::string& path) : names_(names), path_(path) {}

  std::optional<size_t> column(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<size_t>(found - names_.begin());
  }
  size_t required(std::string_view name) const {
    if (const auto found = column(name)) return *found;
    throw UsageError(path_ + ": has no column '" + std::string(name) +
                     "'; both tables need the columns of results.csv");
  }

 private:
  const CsvRow& names_;
  const std::string& path_;
};

// "lockstep, lru, 30 MiB, sawtooth 0.1.0 without merging": the columns of the model, then what a
// prediction was made with beside it.
class Groups {
 public:
  explicit Groups(const Header& header) : version_(header.required("version")) {
    using enum ColumnKind;
    for (const auto& [name, kind] : result_columns) {
      if (kind != model && kind != parameter && kind != made) continue;
      if (name == "judged") continue;  // what is said of a model is no part of it
      // A table may be older than a column that says how a row was made.
      const auto column = kind == made ? header.column(name) : header.required(name);
      if (column) columns_.push_back({name, kind, *column});
    }
  }

  std::string of(const CsvRow& row) const {
    if (row[version_].starts_with(baseline_prefix)) return row[version_];
    std::string group;
    const auto add = [&](std::string_view separator, std::string_view text) {
      group.append(group.empty() ? "" : separator).append(text);
    };
    for (const auto& [name, kind, column] : columns_) {
      const std::string& cell = row[column];
      if (cell.empty()) continue;
      if (name == "l2_bytes") {
        add(", ", capacity(cell));
      } else if (kind == ColumnKind::model) {
        add(", ", cell);
      } else if (name == "version") {
        add(", ", "sawtooth " + cell);
      } else {
        add(" ", std::string(name) + " " + cell);
      }
    }
    return group;
  }
  /// Whether two rows are of one group for certain.
  bool agree(const CsvRow& a, const CsvRow& b) const {
    return std::all_of(columns_.begin(), columns_.end(),
                       [&](const Column& c) { return a[c.place] == b[c.place]; });
  }

 private:
  struct Column {
    std::string_view name;
    ColumnKind kind;
    size_t place;
  };

  static std::string capacity(const std::string& cell) {
    constexpr int64_t mebibyte = 1 << 20;
    const bool whole = cell.size() < 19 && std::all_of(cell.begin(), cell.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
    const bool mebibytes = whole && std::stoll(cell) % mebibyte == 0;
    return mebibytes ? std::to_string(std::stoll(cell) / mebibyte) + " MiB" : cell + " B";
  }

  size_t version_;
  std::vector<Column> columns_;
};

// Numbers of which two rows agree where they are of one point.
using Identity = std::array<uint32_t, 5>;
struct IdentityHash {
  size_t operator()(const Identity& identity) const {
    constexpr uint64_t odd = 0x9e3779b97f4a7c15;
    uint64_t state = 0;
    for (const uint32_t number : identity) state = (state ^ number) * odd + (state >> 32);
    return state;
  }
};
template <class Value>
using ByIdentity = std::unordered_map<Identity, Value, IdentityHash>;

// Which empty cells of a point mean "not known".
ColumnBits open_columns(const ComparedPoint& point, const PointKeys& keys) {
  const Words& words = keys.words();
  const PointKeys::Cells& cells = keys.cells(point.key);
  const bool published = words.text(point.source) == "published";
  const bool from_outside = words.text(point.source) == "measured" &&
                            point.system != Words::empty &&
                            cells[join_column("launch")] == Words::empty;
  ColumnBits open = point.system == Words::empty ? ColumnBits{1} << system_bit : 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool is_seen = !is_schedule_column(i) && i != join_column("small_kernels");
    const bool may_be = published || i == join_column("kernel") || (from_outside && !is_seen);
    if (may_be && cells[i] == Words::empty) open |= ColumnBits{1} << i;
  }
  return open;
}

}  // namespace

class ComparedPoints::Reader {
 public:
  Reader(ComparedPoints& points, const CsvRow& header, const std::string& path, Side side)
      : all_(points), words_(points.keys_->words()), path_(path), header_(header) {
    const Header columns(header, path);
    for (const std::string_view name : join_columns())
      key_columns_.push_back(may_be_missing(name) ? columns.column(name) : columns.required(name));
    source_ = columns.required("source");
    system_ = columns.required("system");
    if (side == Side::predicted) {
      seed_ = columns.required("seed");
      groups_.emplace(columns);
    }
    for (const std::string& counter : all_.counters_)
      counter_columns_.push_back(columns.column(counter));
    last_cells_.resize(header.size());
    last_words_.resize(header.size(), Words::empty);
  }

  void add(const CsvRow& row, int line) {
    ComparedPoint point;
    PointKeys::Cells cells;
    for (size_t i = 0; i < cells.size(); ++i)
      cells[i] = key_columns_[i] ? word(row, *key_columns_[i]) : Words::empty;
    const uint32_t kernel = cells[join_column("kernel")];
    cells[join_column("kernel")] = words_.number(family(words_.text(kernel)));
    point.key = all_.keys_->number(cells);
    point.source = word(row, source_);
    point.system = word(row, system_);
    if (groups_) {
      if (all_.next_row_.empty() || !groups_->agree(row, last_row_))
        group_ = words_.number(groups_->of(row));
      last_row_ = row;
      point.group = group_;
      point.seed = word(row, seed_);
      const auto [seed, is_new] =
          seeds_.try_emplace(Identity{point.group, point.key, kernel, 0, 0}, point.seed);
      has_seeds_ = has_seeds_ || seed->second != point.seed;
    }
    const auto number = static_cast<uint32_t>(all_.next_row_.size());
    for (size_t c = 0; c < counter_columns_.size(); ++c) {
      const auto column = counter_columns_[c];
      all_.values_.push_back(!column || row[*column].empty()
                                 ? nothing
                                 : parse_number(row[*column], path_, line, header_[*column]));
    }
    all_.next_row_.push_back(no_row);
    add(point, number, number);
  }

  // Seeds of one point are no repetitions of each other, but where no point has several they are
  // no models either.
  void finish() {
    if (has_seeds_) {
      for (ComparedPoint& point : all_.points_)
        point.group = words_.number(words_.text(point.group) + ", seed " + words_.text(point.seed));
    } else if (groups_) {
      known_.clear();
      for (ComparedPoint point : std::exchange(all_.points_, {})) {
        point.seed = Words::empty;
        add(point, point.first_row, point.last_row);
      }
    }
    for (ComparedPoint& point : all_.points_) point.open = open_columns(point, *all_.keys_);
  }

 private:
  // Neighbouring rows mostly agree.
  uint32_t word(const CsvRow& row, size_t column) {
    if (row[column] != last_cells_[column]) {
      last_cells_[column] = row[column];
      last_words_[column] = words_.number(row[column]);
    }
    return last_words_[column];
  }

  // Rows first to last, which are chained, are some of this point.
  void add(ComparedPoint point, uint32_t first, uint32_t last) {
    const auto [known, is_new] =
        known_.try_emplace(Identity{point.key, point.group, point.system, point.source, point.seed},
                           static_cast<uint32_t>(all_.points_.size()));
    if (is_new) {
      point.first_row = first;
      point.last_row = last;
      all_.points_.push_back(point);
      return;
    }
    ComparedPoint& before = all_.points_[known->second];
    all_.next_row_[before.last_row] = first;
    before.last_row = last;
  }

  ComparedPoints& all_;
  Words& words_;
  const std::string& path_;
  const CsvRow& header_;
  std::vector<std::optional<size_t>> key_columns_;
  size_t source_ = 0, system_ = 0, seed_ = 0;
  std::optional<Groups> groups_;
  std::vector<std::optional<size_t>> counter_columns_;
  CsvRow last_cells_, last_row_;
  std::vector<uint32_t> last_words_;
  uint32_t group_ = 0;
  ByIdentity<uint32_t> known_, seeds_;  // to points and to seeds
  bool has_seeds_ = false;
};

ComparedPoints::ComparedPoints(CsvFile&& table, std::vector<std::string> counters, Side side,
                               std::shared_ptr<PointKeys> keys)
    : counters_(std::move(counters)), keys_(std::move(keys)) {
  bool has_row = table.next();  // what is no table is said before what lacks columns
  Reader reader(*this, table.header(), table.path(), side);
  for (; has_row; has_row = table.next()) reader.add(table.cells(), table.line());
  reader.finish();
}

ComparedPoints::ComparedPoints(const CsvTable& table, std::vector<std::string> counters, Side side,
                               std::shared_ptr<PointKeys> keys)
    : counters_(std::move(counters)), keys_(std::move(keys)) {
  Reader reader(*this, table.header, table.path, side);
  for (size_t row = 0; row < table.rows.size(); ++row)
    reader.add(table.rows[row], table.line_of_row[row]);
  reader.finish();
}

std::vector<double> ComparedPoints::values(const ComparedPoint& point, size_t counter) const {
  std::vector<double> values;
  for (uint32_t row = point.first_row; row != no_row; row = next_row_[row]) {
    const double value = values_[row * counters_.size() + counter];
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

}  // namespace sawtooth::experiments
