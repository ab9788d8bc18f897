// sawtooth record: its command line, and the runs of a command, once for each pass. Its options say
// which launches of a program are read, not what a point is, so they are no keys of configurations.
// Its table: the columns of results.csv, then what names a launch, then counters that results.csv
// has no column for. sawtooth import-ncu writes the same.
#pragma once

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cupti/inject/pass_file.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/results/columns.hpp"
#include "experiments/sawtooth/support/csv.hpp"

namespace sawtooth::experiments {

/// What one run of the command left.
struct PassRecord {
  std::vector<inject::ProcessRecord> processes;
  bool complete = true;  // the command ended by itself and with 0
};

/// The program does not repeat its launches, so that its passes cannot be put together.
class PassMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct MergedLaunch {
  size_t process = 0;                                 // by order of starting CUDA
  inject::LaunchRecord first;                         // as the first pass, the timed one, saw it
  int64_t passes = 0;                                 // that counted it
  std::map<std::string, std::vector<double>> values;  // metric -> a value a pass that read it
  std::string status = "ok";  // the first that is not ok, else "incomplete" where a pass lacks it
  std::string message;
};

/// A launch is the same in two runs when its process, its number among the matching launches of the
/// process, its name and its grid are. `passes[0]` is the timed run; `wanted` how many there were
/// to be. Runs that did not complete may have fewer launches than the others. Throws PassMismatch.
std::vector<MergedLaunch> merge_passes(const std::vector<PassRecord>& passes, size_t wanted);

/// Notes of all processes and passes, each once.
std::vector<std::string> notes_of(const std::vector<PassRecord>& passes);

inline constexpr std::array<std::string_view, 10> launch_columns{
    "kernel_name", "grid",   "block",   "shared_bytes", "registers",
    "stream",      "device", "context", "process",      "launch_index"};

/// Column of every metric of the chip's table, "lts__t_sectors_...sum" -> "l2_read_sectors"; what
/// is not in it has its own name as a column. duration_ns goes to profiled_time_us.
std::map<std::string, std::string> columns_of_metrics(const std::string& chip);

/// How rows are made, whatever they come from.
class LaunchTable {
 public:
  /// `extra` are the columns behind the launch's own.
  explicit LaunchTable(const std::vector<std::string>& extra);

  std::string header() const { return csv_line(header_); }
  CsvRow empty_row() const { return CsvRow(header_.size()); }
  /// Writes a cell of any part of the row, if there is such a column.
  void set(CsvRow& row, std::string_view column, const std::string& text) const {
    if (const auto place = column_of(header_, column)) row[*place] = text;
  }
  /// A launch's own cells; unknown ones stay empty. `repetition` counts the earlier rows of the
  /// same process, name, grid, block and run_id.
  void describe(CsvRow& row, const inject::LaunchRecord& launch, size_t process);

 private:
  CsvRow header_;
  std::map<std::string, int64_t> seen_;  // launches of the same name and shape
};

struct RecordLabels {
  std::string experiment, gpu;
  std::string state;  // cold after a flush, else as-is
};

/// `metrics` in the order of the plan, witnesses first.
std::string record_table(const std::vector<MergedLaunch>& launches,
                         const std::vector<std::string>& metrics, const std::string& chip,
                         const RecordLabels& labels);

struct RecordArguments {
  inject::PassRequest launches;      // its metrics stay empty
  std::vector<std::string> metrics;  // empty: those of results.csv
  std::string csv = "-";
  std::string gpu;  // for the column
  int device = 0;   // whose counters are planned
  std::vector<std::string> command;
};

/// Throws UsageError.
RecordArguments parse_record_arguments(const Arguments& arguments);

struct Recording {
  std::vector<PassRecord> passes;
  std::vector<std::string> ends;  // how runs ended that did not end well, a line each
  bool interrupted = false;       // and so are passes missing
};

/// The metrics of a command's counting passes.
struct CounterGroups {
  std::string chip;
  std::vector<std::vector<std::string>> groups;  // of one pass each
  std::vector<std::string> metrics;              // all, once each
};

/// Asked of the GPU in this process, so that nothing is run where counters are off. Throws
/// cupti::CounterError; UsageError for a metric that takes several passes.
CounterGroups plan_groups(const RecordArguments& arguments);

/// The library that is injected; $SAWTOOTH_RECORD_LIBRARY comes first. Throws cupti::CounterError.
std::string find_record_library();

/// Throws UsageError where another tool is injected already.
void refuse_other_injection();

/// `groups`: the metrics of each counting pass; a timed pass goes before them. Interrupted, it
/// returns what there is. Throws UsageError when the command cannot be started.
Recording record_command(const RecordArguments& arguments,
                         const std::vector<std::vector<std::string>>& groups,
                         const std::string& library);

}  // namespace sawtooth::experiments
