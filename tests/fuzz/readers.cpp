#include <iterator>
#include <stdexcept>
#include <string>

#include "experiments/sawtooth/calibrate/launch_times.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/compare/compare.hpp"
#include "experiments/sawtooth/compare/compare_report.hpp"
#include "experiments/sawtooth/import_ncu/ncu_report.hpp"
#include "experiments/sawtooth/inputs/features/sets.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "experiments/sawtooth/order/find_schedule.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace experiments;

Catalog& catalog() {
  static Catalog known;
  return known;
}
const sim::Gpu& h200() {
  static const sim::Gpu gpu = catalog().gpu({{"h200"}, {}}).profile;
  return gpu;
}

void reduce(const std::vector<RecordedLaunch>& records) {
  std::vector<LaunchTimes> launches;
  for (const RecordedLaunch& record : records) launches.push_back(launch_times(record, h200()));
  item_costs(launches, h200(), {});
}

/// Rows of `measure` and items, apart by a line "--".
void items(const std::string& text) {
  static const InputFile rows_file, items_file;
  const size_t apart = text.find("--\n");
  if (apart == std::string::npos) return;
  const std::string rows = text.substr(0, apart), own = text.substr(apart + 3);
  reduce(read_item_records(rows_file.with(rows), items_file.with(own)));
}

void launches(const std::string& text) {
  static const InputFile file;
  const std::vector<LaunchTimes> found = read_launch_times(file.with(text));
  require(launch_times_csv(found) ==
              launch_times_csv(read_launch_times(file.with(launch_times_csv(found)))),
          "launches survive");
  item_costs(found, h200(), {});
}

void stamps(const std::string& text) {
  const Stamps found = read_stamps(parse_csv(text, "input"), 2);
  const FoundSchedule schedule = find_schedule(found);
  require(schedule.workers > 0, "a launch has workers");
  drift_of(found, schedule);
  observed_order(found, schedule);
}

void taught(const std::string& text) {
  taught_rows(parse_csv(text, "input"), "h200", catalog());
}

void report(const std::string& text) {
  const NcuTables tables =
      ncu_tables(parse_ncu_report(text, "input"), known_ncu_metrics(), "fuzz", "input");
  parse_csv(tables.rows, "rows");
  if (!tables.long_table.empty()) parse_csv(tables.long_table, "metrics");
}

void streams(const std::string& text) {
  static const InputFile file;
  read_stream_csv(file.with(text));
}

void tables(const std::string& text) {
  const CsvTable table = parse_csv(text, "input");
  const Comparison comparison = compare_tables(table, table, counters_named("", "fuzz"));
  report_text(comparison.errors, {});
}

void lengths(const std::string& text) {
  static const InputFile file;
  const std::string list = canonical_lengths("file:" + file.with(text));
  require(canonical_lengths(list) == list, "a list of lengths is its own canonical one");
}

void pages(const std::string& text) {
  static const InputFile file;
  const Problem problem{.batch = 3, .seq_q = 1, .seq_kv = 100};
  const PageTable table = page_table_of("file:" + file.with(text), problem, {}, 32);
  for (const int32_t page : table.entries)
    require(page >= 0 && page < table.count, "a page is one of those there");
}

void matrix(const std::string& text) {
  static const InputFile file;
  require(read_hash_matrix(file.with(text)).size() <= 31, "a set number has 31 bits at most");
}

void ini(const std::string& text) {
  std::string again;
  const IniFile file = parse_ini(text, "input");
  for (const IniSection& section : file.sections) {
    if (!section.name.empty()) again += "[" + section.name + "]\n";
    for (const IniEntry& entry : section.entries) again += ini_line(entry.key, entry.value);
  }
  const IniFile back = parse_ini(again, "again");
  require(back.sections.size() == file.sections.size(), "sections survive");
  for (size_t s = 0; s < file.sections.size(); ++s)
    for (size_t e = 0; e < file.sections[s].entries.size(); ++e)
      require(one_line(file.sections[s].entries[e].value) == back.sections[s].entries[e].value,
              "values survive");
}

constexpr void (*kinds[])(const std::string&) = {items,  launches, stamps, taught, report, streams,
                                                 tables, lengths,  pages,  matrix, ini};

}  // namespace

void readers(std::span<const char> bytes) {
  h200();  // throws where no profiles are found, and nothing would be tried
  Choices choices(bytes);
  const auto kind = static_cast<size_t>(choices.below(std::size(kinds)));
  const std::string text(choices.rest().data(), choices.rest().size());
  try {
    kinds[kind](text);
  } catch (const UsageError&) {
  } catch (const std::invalid_argument&) {  // what calibrate says with the file's name before it
  }
}

}  // namespace sawtooth::fuzz
