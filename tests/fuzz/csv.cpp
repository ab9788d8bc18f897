#include "experiments/sawtooth/support/csv.hpp"

#include "experiments/sawtooth/support/text.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {

using namespace experiments;

void csv(std::span<const char> bytes) {
  CsvTable table;
  try {
    table = parse_csv({bytes.data(), bytes.size()}, "input");
  } catch (const UsageError&) {
    return;
  }
  require(table.line_of_row.size() == table.rows.size(), "every row has its line");
  std::string text = csv_line(table.header);
  for (const CsvRow& row : table.rows) {
    require(row.size() == table.header.size(), "rows are as long as the header");
    text += csv_line(row);
  }
  const CsvTable again = parse_csv(text, "again");
  require(again.header == table.header, "the header survives");
  require(again.rows == table.rows, "rows survive");
}

}  // namespace sawtooth::fuzz
