#include "experiments/sawtooth/results/result_log.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/output_file.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

bool has_result(const CsvRow& row) {
  return row[result_column("status")] == "ok";
}

// "gpu=12ab kernel=34cd" as {"gpu=12ab", "kernel=34cd"}.
std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;) words.insert(word);
  return words;
}

// What differs between two rows of one name: "gpu, order file".
std::string changes_between(const CsvRow& before, const CsvRow& now) {
  constexpr size_t version = result_column("version"), inputs = result_column("inputs");
  const std::set<std::string> then = words_of(before[inputs]), today = words_of(now[inputs]);
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(then, today, std::back_inserter(differ));
  std::set<std::string> kinds;
  for (const std::string& word : differ) kinds.insert(word.substr(0, word.find('=')));
  if (before[version] != now[version]) kinds.insert("version");
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return text.empty() ? "model" : text;
}

}  // namespace

OldRows old_rows(const Settings& outputs) {
  const bool resume = is_on(outputs, "resume"), overwrite = is_on(outputs, "overwrite");
  if (resume && overwrite)
    throw UsageError("--overwrite: has no effect beside --resume; leave one of them out");
  return resume ? OldRows::resume : overwrite ? OldRows::overwrite : OldRows::replace_finished;
}

ResultLog::ResultLog(std::string path, OldRows old, size_t key_columns)
    : path_(std::move(path)), key_columns_(key_columns) {
  if (path_ != "-") {
    const OutputPath target = output_path(path_);
    path_ = target.path;
    replaceable_ = target.replaceable;
    if (replaceable_) lock_.emplace(path_);
  }
  if (old == OldRows::replace_finished) refuse_unfinished();
  if (old != OldRows::resume) return;
  if (!replaceable_) throw UsageError("--resume: needs --csv FILE to go on with");
  if (std::filesystem::exists(path_)) take_over(path_, false);
  had_partial_ = std::filesystem::exists(partial_path());
  if (had_partial_) take_over(partial_path(), true);
}

// A header alone is nothing that could be lost.
void ResultLog::refuse_unfinished() const {
  if (!replaceable_ || !std::filesystem::exists(partial_path())) return;
  const std::string text = read_text_file(partial_path());
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines < 2) return;
  throw UsageError(partial_path() + ": has " + std::to_string(lines - 1) +
                   (lines == 2 ? " row" : " rows") +
                   " of a sweep that was interrupted; allowed: --resume to go on with them, " +
                   "--overwrite to leave them, or another --csv");
}

// A row's key without the contents of files and the program's version.
std::string ResultLog::name_of(const CsvRow& cells) const {
  CsvRow name(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(key_columns_));
  name[result_column("inputs")].clear();
  name[result_column("version")].clear();
  name[result_column("judged")].clear();
  return csv_line(name);
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
    const std::string key = key_of(row);
    const auto known = old_.find(key);
    if (known == old_.end()) old_order_.push_back(key);
    if (known == old_.end() || has_result(row))
      old_.insert_or_assign(key, OldRow{row, csv_line(row)});
  }
}

void ResultLog::refuse_changes(const std::vector<CsvRow>& sweep) const {
  std::set<std::string> wanted;
  for (const CsvRow& cells : sweep) wanted.insert(key_of(cells));
  std::map<std::string, const OldRow*> others;  // by name, of rows that are none of the sweep
  for (const auto& [key, row] : old_)
    if (has_result(row.cells) && !wanted.contains(key)) others.emplace(name_of(row.cells), &row);
  for (const CsvRow& cells : sweep) {
    const auto same = old_.find(key_of(cells));
    const auto other = others.find(name_of(cells));
    const OldRow* old = nullptr;
    if (same == old_.end()) {
      if (other != others.end()) old = other->second;
    } else if (has_result(same->second.cells) && !cells[result_column("timing")].empty() &&
               same->second.cells[result_column("run_id")] != run_id(cells)) {
      old = &same->second;
    }
    if (old == nullptr) continue;
    throw UsageError(path_ + ": --resume: row " + old->cells[result_column("run_id")] +
                     " was made with another " + changes_between(old->cells, cells) +
                     "; allowed: --overwrite to make all rows anew, or another --csv");
  }
}

bool ResultLog::has(const CsvRow& key_cells) const {
  const auto found = old_.find(key_of(key_cells));
  return found != old_.end() && has_result(found->second.cells);
}

std::ostream& ResultLog::rows() {
  return path_ == "-" ? std::cout : file_;
}

void ResultLog::start() {
  if (replaceable_) {
    OutputFile file(partial_path());
    file.write(result_header());
    for (const std::string& key : old_order_) file.write(old_.at(key).line);
    file.commit();
  }
  if (path_ == "-") return;
  file_.open(replaceable_ ? partial_path() : path_, std::ios::binary | std::ios::app);
  if (!file_) throw UsageError(path_ + ": cannot be written");
}

void ResultLog::write_row(const std::string& line) {
  rows() << line << std::flush;
  if (rows()) return;
  if (path_ == "-") throw std::runtime_error("standard output cannot be written");
  throw std::runtime_error((replaceable_ ? partial_path() : path_) +
                           ": writing failed; is the disk full?");
}

void ResultLog::write_held() {
  if (!holds_) return;
  holds_ = false;
  if (!replaceable_) write_row(result_header());
  for (const std::string& line : held_) write_row(line);
  held_.clear();
}

void ResultLog::append(const CsvRow& row) {
  const std::string line = csv_line(row);
  const std::string& status = row[result_column("status")];
  if (status == status_refused || status == status_failed) ++failures_;
  used_[key_of(row)] = true;
  lines_.push_back(line);
  if (holds_ && status == status_refused) {
    if (held_.empty()) first_refusal_ = row[result_column("message")];
    held_.push_back(line);
    return;
  }
  write_held();
  write_row(line);
}

void ResultLog::keep(const CsvRow& key_cells) {
  const std::string key = key_of(key_cells);
  write_held();
  used_[key] = true;
  lines_.push_back(old_.at(key).line);
}

void ResultLog::finish() {
  if (!held_.empty()) {
    discard();
    throw Refusal(first_refusal_);
  }
  write_held();  // the header of a table without rows
  if (!replaceable_) return;
  OutputFile file(path_);
  file.write(result_header());
  for (const std::string& key : old_order_) {
    if (!used_.contains(key)) file.write(old_.at(key).line);
  }
  for (const std::string& line : lines_) file.write(line);
  file.commit();
  file_.close();
  std::filesystem::remove(partial_path());
}

std::vector<CsvRow> ResultLog::sweep_rows() const {
  std::string text = result_header();
  for (const std::string& line : lines_) text += line;
  return parse_csv(text, path_).rows;
}

// The partial file of this run; rows of one that was there before stay.
void ResultLog::discard() {
  file_.close();
  if (replaceable_ && !had_partial_) std::filesystem::remove(partial_path());
}

}  // namespace sawtooth::experiments
