// What Nsight Compute wrote with `ncu --csv`: lines of its own and of the program, then a header
// and, of `--page raw`, a row of units and a row a launch with a column a metric, or of `--page
// details` a row a metric, with columns of rules or without. Units become base units. It becomes
// the table of sawtooth record, and what that has no column for a long table: process,
// launch_index, kernel_name, grid, block, metric, value, unit.
// Source: Nsight Compute CLI documentation, "CSV output", "--print-units"; reports of ncu 2025.3.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/inject/pass_file.hpp"
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

struct NcuLaunch {
  inject::LaunchRecord launch;  // its values stay empty
  size_t process = 0;           // by order of appearance
  std::string compute;          // capability, such as 9.0
  std::map<std::string, NcuValue> metrics;
};

/// The text of a report; of a file *.ncu-rep what the ncu on the path makes of it. Throws
/// UsageError.
std::string ncu_text(const std::string& path);

/// Throws UsageError that names file and line for what is no such report.
std::vector<NcuLaunch> parse_ncu_report(std::string_view text, const std::string& path);

/// Metric -> column of results.csv, of all chips of cupti/metric_table.hpp together: a name means
/// the same on every chip that has it.
std::map<std::string, std::string> known_ncu_metrics();

/// "metric = column" lines of an INI file over the known ones. Throws UsageError for a column that
/// is no counter of results.csv and not profiled_time_us.
void add_metric_map(std::map<std::string, std::string>& columns, const std::string& path);

/// Those whose name `regex` (POSIX, extended) matches; all, where it is empty. Throws UsageError
/// that begins with `place` for what is no regular expression.
std::vector<size_t> ncu_launches_of(const std::vector<NcuLaunch>& launches,
                                    const std::string& regex, const std::string& place);

struct NcuLabel {
  CsvRow key_cells;                     // of a launch's point; empty: none
  int64_t compulsory_read_sectors = 0;  // of a cold L2; 0: not known
  std::vector<int64_t> ctas;            // that its grid may have; empty: not known
};

/// The points of a configuration for launches in their order. Words in the name of a section say
/// which launches its points are: kernel=REGEX, grid=AxBxC, and each=N that follow each other of a
/// point before the next one, and the list again behind its last. Sections of the same words are
/// one list; one without words takes what others leave. Throws UsageError for other numbers of
/// launches, and for a grid that was not named and is not the point's.
std::vector<NcuLabel> ncu_labels(const std::vector<NcuLaunch>& launches, const std::string& path,
                                 const std::string& experiment);

struct NcuTables {
  std::string rows;
  std::string long_table;            // empty when every metric has a column
  std::set<std::string> complaints;  // of rows whose status is not ok
  std::vector<std::string> notes;
};

/// Rows are `ok`, `no-counters`, or `impossible`: more misses than reads, hit rates over 100 %,
/// DRAM reads under compulsory. `labels` is empty or has one of each launch. Throws UsageError for
/// a counter that is neither sectors nor bytes.
NcuTables ncu_tables(const std::vector<NcuLaunch>& launches,
                     const std::map<std::string, std::string>& columns,
                     const std::string& experiment, const std::string& path,
                     const std::vector<NcuLabel>& labels = {});

}  // namespace sawtooth::experiments
