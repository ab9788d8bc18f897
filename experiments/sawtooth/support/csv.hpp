// CSV as RFC 4180 has it: fields with commas, quotes or line breaks are quoted, quotes doubled.
// Lines end with \n when written; \r\n is read as well.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

using CsvRow = std::vector<std::string>;

/// One line with its line break.
std::string csv_line(const CsvRow& cells);

/// `cells` and behind them `numbers`.
inline CsvRow with_numbers(CsvRow cells, std::initializer_list<int64_t> numbers) {
  for (const int64_t number : numbers) cells.push_back(std::to_string(number));
  return cells;
}

/// The place of a column, if it is there.
std::optional<size_t> column_of(const CsvRow& header, std::string_view name);

struct CsvTable {
  std::string path;
  CsvRow header;
  std::vector<CsvRow> rows;      // each as long as the header
  std::vector<int> line_of_row;  // where each row begins, for messages

  std::optional<size_t> column(std::string_view name) const { return column_of(header, name); }
  /// Nothing where the column is not there.
  std::string cell(size_t row, std::string_view name) const {
    const auto place = column(name);
    return place ? rows[row][*place] : "";
  }
  /// "PATH:LINE", for messages.
  std::string place(size_t row) const { return path + ":" + std::to_string(line_of_row[row]); }
};

/// Throws UsageError "PATH:LINE:COLUMN: ..." for what is no table: a broken quote, a row that is
/// shorter or longer than the header, a column twice, no header.
CsvTable parse_csv(std::string_view text, const std::string& path);
CsvTable read_csv(const std::string& path);

/// Where a record stands: in which file of CsvRecords, and there.
struct CsvPlace {
  uint64_t offset = 0;
  uint32_t length = 0;
  uint32_t file = 0;
};

/// A table row by row, for files larger than memory; throws as parse_csv() does.
class CsvFile {
 public:
  /// `may_end_early`: a last line without its end was not written to its end, and is none. A file
  /// without one whole line then has no header either.
  explicit CsvFile(const std::string& path, bool may_end_early = false);
  /// `path` is for messages.
  CsvFile(std::unique_ptr<std::istream> text, const std::string& path, bool may_end_early = false);

  const std::string& path() const { return path_; }
  const CsvRow& header() const { return header_; }
  std::optional<size_t> column(std::string_view name) const { return column_of(header_, name); }

  /// Reads the next row; false at the end.
  bool next();
  /// The cells are those of the row read last.
  const CsvRow& cells() const { return cells_; }
  std::string_view record() const { return record_; }  // as it stands in the file
  int line() const { return line_; }
  /// Its place, without the line's end, in the file that CsvRecords has as number `file`.
  CsvPlace place(size_t file) const {
    return {offset_, static_cast<uint32_t>(record_.size()), static_cast<uint32_t>(file)};
  }

 private:
  void read_header();
  bool read_record();

  std::string path_;
  std::unique_ptr<std::istream> file_;
  bool may_end_early_ = false;
  std::string text_;  // of the record, with its line's end
  int next_line_ = 1;
  std::string_view record_;
  uint64_t offset_ = 0;
  int line_ = 0;
  CsvRow header_, cells_;
};

/// One record that CsvFile has found, read again.
CsvRow parse_csv_record(std::string_view record, const std::string& path, int line);

/// Tables whose records are read again by their places.
class CsvRecords {
 public:
  /// `file` is open on the table at `path`, and stays so.
  void add(const std::string& path, std::ifstream file) {
    paths_.push_back(path);
    files_.push_back(std::move(file));
  }
  size_t size() const { return paths_.size(); }
  const std::string& path(const CsvPlace& at) const { return paths_[at.file]; }
  /// As it stands there. Throws std::runtime_error where the file was changed meanwhile.
  std::string text(const CsvPlace& at) const;
  CsvRow read(const CsvPlace& at) const { return parse_csv_record(text(at), path(at), 0); }

 private:
  std::vector<std::string> paths_;
  mutable std::vector<std::ifstream> files_;
};

// Tables whose rows are structs: a column is a name and where its cell stands in a row, for reading
// and for writing.

/// A number of an enumeration of one byte, or of a bool, by its name.
struct NamedCell {
  std::span<const std::string_view> names;
  unsigned char* value;
};
template <class Value>
NamedCell named(std::span<const std::string_view> names, Value& value) {
  static_assert(sizeof value == 1);
  return {names, reinterpret_cast<unsigned char*>(&value)};
}

/// An empty cell is nothing, no number (NaN) or no list; elements of a list stand between ';'.
using TypedCell = std::variant<std::string*, int64_t*, double*, std::optional<int64_t>*,
                               std::vector<int64_t>*, NamedCell>;

template <class Row>
struct TypedColumn {
  std::string name;
  std::function<TypedCell(Row&)> cell;

  /// The member of a row, or one of that member and so on.
  template <class... Members>
  requires(std::is_member_pointer_v<Members>&&...) TypedColumn(std::string text, Members... path)
      : name(std::move(text)), cell([=](Row& row) -> TypedCell { return &(row.*....*path); }) {}
  TypedColumn(std::string text, std::function<TypedCell(Row&)> found)
      : name(std::move(text)), cell(std::move(found)) {}
};
template <class Row>
using TypedColumns = std::vector<TypedColumn<Row>>;

/// Numbers have `digits` significant ones.
std::string cell_text(const TypedCell& cell, int digits = 7);
/// Throws std::invalid_argument with what is wrong with `text`. Whole numbers may be written with a
/// fraction, as means are, and are rounded.
void read_cell(const TypedCell& cell, const std::string& text);

template <class Row>
std::string typed_csv(const std::vector<Row>& rows, const TypedColumns<Row>& columns) {
  CsvRow cells;
  for (const TypedColumn<Row>& column : columns) cells.push_back(column.name);
  std::string text = csv_line(cells);
  for (Row row : rows) {
    for (size_t i = 0; i < columns.size(); ++i) cells[i] = cell_text(columns[i].cell(row));
    text += csv_line(cells);
  }
  return text;
}

/// One row of a table; columns that the table has not leave their cells as they are.
template <class Row>
Row typed_row(const CsvTable& table, size_t row, const TypedColumns<Row>& columns) {
  Row made;
  for (const TypedColumn<Row>& column : columns) {
    const auto place = table.column(column.name);
    if (!place) continue;
    try {
      read_cell(column.cell(made), table.rows[row][*place]);
    } catch (const std::invalid_argument& error) {
      throw UsageError(table.place(row) + ": " + column.name + ": " + error.what());
    }
  }
  return made;
}

/// All rows of a table that has all columns; `allowed` says which tables do.
template <class Row>
std::vector<Row> typed_rows(const CsvTable& table, const TypedColumns<Row>& columns,
                            std::string_view allowed = {}) {
  for (const TypedColumn<Row>& column : columns)
    if (!table.column(column.name))
      throw UsageError(table.path + ": has no column " + column.name +
                       std::string(allowed.empty() ? "" : "; allowed: ").append(allowed));
  std::vector<Row> rows;
  for (size_t row = 0; row < table.rows.size(); ++row)
    rows.push_back(typed_row(table, row, columns));
  return rows;
}

}  // namespace sawtooth::experiments
