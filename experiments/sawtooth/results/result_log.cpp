#include "experiments/sawtooth/results/result_log.hpp"

#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

ResultLog::ResultLog(std::string path, bool resume, size_t key_columns)
    : path_(std::move(path)), key_columns_(key_columns) {
  if (path_ != "-") {
    const OutputPath target = output_path(path_);
    path_ = target.path;
    replaceable_ = target.replaceable;
    if (replaceable_) lock_.emplace(path_);
  }
  if (!resume) return;
  if (!replaceable_) throw UsageError("--resume: needs --csv FILE to go on with");
  if (std::filesystem::exists(path_)) take_over(path_, false);
  if (std::filesystem::exists(partial_path())) take_over(partial_path(), true);
}

std::string ResultLog::key_of(const CsvRow& cells) const {
  return csv_line(CsvRow(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(key_columns_)));
}

void ResultLog::take_over(const std::string& path, bool may_end_early) {
  std::string text = read_text_file(path);
  if (may_end_early) text.resize(text.rfind('\n') + 1);  // npos + 1 is 0: no complete line
  if (text.empty() && may_end_early) return;
  const CsvTable table = parse_csv(text, path);
  if (csv_line(table.header) != result_header()) {
    throw UsageError(path + ": --resume: its columns are not those of results.csv; choose " +
                     "another --csv file, or leave --resume out to replace it");
  }
  for (const CsvRow& row : table.rows) {
    if (row[result_column("status")] != "ok") continue;
    const std::string key = key_of(row);
    if (old_.insert_or_assign(key, csv_line(row)).second) old_order_.push_back(key);
  }
}

bool ResultLog::has(const CsvRow& key_cells) const {
  return old_.contains(key_of(key_cells));
}

std::ostream& ResultLog::rows() {
  return path_ == "-" ? std::cout : file_;
}

void ResultLog::start() {
  if (replaceable_) {
    OutputFile file(partial_path());
    file.write(result_header());
    for (const std::string& key : old_order_) file.write(old_.at(key));
    file.commit();
  }
  if (path_ != "-") {
    file_.open(replaceable_ ? partial_path() : path_, std::ios::binary | std::ios::app);
    if (!file_) throw UsageError(path_ + ": cannot be written");
  }
  if (!replaceable_) rows() << result_header() << std::flush;
}

void ResultLog::append(const CsvRow& row) {
  const std::string line = csv_line(row);
  used_[key_of(row)] = true;
  lines_.push_back(line);
  rows() << line << std::flush;
  if (rows()) return;
  if (path_ == "-") throw std::runtime_error("standard output cannot be written");
  throw std::runtime_error((replaceable_ ? partial_path() : path_) +
                           ": writing failed; is the disk full?");
}

void ResultLog::keep(const CsvRow& key_cells) {
  const std::string key = key_of(key_cells);
  used_[key] = true;
  lines_.push_back(old_.at(key));
}

void ResultLog::finish() {
  if (!replaceable_) return;
  OutputFile file(path_);
  file.write(result_header());
  for (const std::string& key : old_order_) {
    if (!used_.contains(key)) file.write(old_.at(key));
  }
  for (const std::string& line : lines_) file.write(line);
  file.commit();
  file_.close();
  std::filesystem::remove(partial_path());
}

}  // namespace sawtooth::experiments
