// One cell of a parsed table, by the name of its column.
#pragma once

#include <string>

#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::test {

/// Throws std::out_of_range for a row, and std::bad_optional_access for a column, that is not
/// there.
inline std::string cell(const experiments::CsvTable& table, size_t row, const std::string& column) {
  return table.rows.at(row).at(table.column(column).value());
}

}  // namespace sawtooth::test
