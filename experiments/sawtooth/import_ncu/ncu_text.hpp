// The text of a table of Nsight Compute: encodings, separators, notations of numbers, and units.
// Source: Nsight Compute CLI documentation, "CSV output" and "--print-units"; reports of ncu
// 2025.3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

struct NcuTable {
  CsvTable csv;
  int lines_before = 0;     // its header, in the file
  char decimal_mark = '.';  // ',' where semicolons part cells
};

/// The table in UTF-8, or UTF-16 with a mark, without the lines that ncu and the program wrote
/// around it. Throws UsageError that names the file for what has none.
NcuTable ncu_table(std::string_view bytes, const std::string& path);

struct NcuValue {
  std::string text;              // as written, or the number in base units
  std::string unit;              // byte and not Kbyte, second and not ns
  std::optional<double> number;  // in base units
};

NcuValue ncu_value(const std::string& cell, std::string_view unit, char decimal_mark);

}  // namespace sawtooth::experiments
