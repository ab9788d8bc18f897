// Tables whose rows are structs: a column is a name and where its cell stands in a row, for reading
// and for writing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

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
