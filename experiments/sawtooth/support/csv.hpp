// CSV as RFC 4180 has it: fields with commas, quotes or line breaks are quoted, quotes doubled.
// Lines end with \n when written; \r\n is read as well.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

using CsvRow = std::vector<std::string>;

/// One line with its line break.
std::string csv_line(const CsvRow& cells);

struct CsvTable {
  std::string path;
  CsvRow header;
  std::vector<CsvRow> rows;      // each as long as the header
  std::vector<int> line_of_row;  // where each row begins, for messages

  std::optional<size_t> column(std::string_view name) const;
};

/// Throws UsageError "PATH:LINE:COLUMN: ..." for what is no table: a broken quote, a row that is
/// shorter or longer than the header, a column twice, no header.
CsvTable parse_csv(std::string_view text, const std::string& path);
CsvTable read_csv(const std::string& path);

}  // namespace sawtooth::experiments
