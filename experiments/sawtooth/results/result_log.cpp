#include "experiments/sawtooth/results/result_log.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

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

// What differs between an old row and a new one of its name: "gpu, order file".
std::string changes_between(const CsvRow& before, const std::string& inputs_now,
                            std::string_view version_now) {
  constexpr size_t version = result_column("version"), inputs = result_column("inputs");
  const std::set<std::string> then = words_of(before[inputs]), today = words_of(inputs_now);
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(then, today, std::back_inserter(differ));
  std::set<std::string> kinds;
  for (const std::string& word : differ) kinds.insert(word.substr(0, word.find('=')));
  if (before[version] != version_now) kinds.insert("version");
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return text.empty() ? "model" : text;
}

// Refused rows beyond so many are no mistake in a key that all points share.
constexpr size_t most_held = 65536;

}  // namespace

OldRows old_rows(const Settings& outputs) {
  const bool resume = is_on(outputs, "resume"), overwrite = is_on(outputs, "overwrite");
  if (resume && overwrite)
    throw UsageError("--overwrite: has no effect beside --resume; leave one of them out");
  return resume ? OldRows::resume : overwrite ? OldRows::overwrite : OldRows::replace_finished;
}

std::vector<std::string> HeldBack::pass(const std::string& line, bool refused) {
  lines_.push_back(line);
  if (holds_ && refused && lines_.size() <= most_held) return {};
  return release();
}

std::vector<std::string> HeldBack::release() {
  holds_ = false;
  return std::exchange(lines_, {});
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
  std::ifstream file(partial_path(), std::ios::binary);
  const auto lines =
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  if (lines < 2) return;
  throw UsageError(partial_path() + ": has " + std::to_string(lines - 1) +
                   (lines == 2 ? " row" : " rows") +
                   " of a sweep that was interrupted; allowed: --resume to go on with them, " +
                   "--overwrite to leave them, or another --csv");
}

// A row's key without the contents of files and the program's version.
uint64_t ResultLog::name_of(const CsvRow& cells) const {
  CsvRow name(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(key_columns_));
  name[result_column("inputs")].clear();
  name[result_column("version")].clear();
  name[result_column("judged")].clear();
  return ContentHash().add(csv_line(name)).number();
}

void ResultLog::take_over(const std::string& path, bool may_end_early) {
  CsvFile file(path, may_end_early);
  if (file.header().empty()) return;
  if (csv_line(file.header()) != result_header()) {
    const auto unknown = std::ranges::find_if(file.header(), [](const std::string& name) {
      return std::ranges::find(result_columns, name, &ResultColumn::name) == result_columns.end();
    });
    throw UsageError(path + ": --resume: its columns are not those of results.csv" +
                     (unknown == file.header().end() ? "" : ", which has no " + *unknown) +
                     "; choose another --csv file, or leave --resume out to replace it");
  }
  const auto source = static_cast<uint32_t>(old_paths_.size());
  while (file.next()) {
    const OldRow row{file.offset(), static_cast<uint32_t>(file.length()), source,
                     has_result(file.cells())};
    const auto [known, is_new] =
        old_by_key_.try_emplace(key_of(file.cells()), static_cast<uint32_t>(old_.size()));
    if (is_new)
      old_.push_back(row);
    else if (row.has_result)
      old_[known->second] = row;
    else
      continue;
    if (row.has_result) old_by_name_.emplace(name_of(file.cells()), known->second);
  }
  old_paths_.push_back(path);
  old_files_.emplace_back(path, std::ios::binary);
}

CsvRow ResultLog::read(const OldRow& row) const {
  std::string text(row.length, '\0');
  std::ifstream& file = old_files_[row.source];
  file.seekg(static_cast<std::streamoff>(row.offset));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return parse_csv_record(text, old_paths_[row.source], 0);
}

const ResultLog::OldRow* ResultLog::find_old(const CsvRow& key_cells) const {
  if (old_.empty()) return nullptr;
  const auto found = old_by_key_.find(key_of(key_cells));
  return found == old_by_key_.end() ? nullptr : &old_[found->second];
}

void ResultLog::refuse_change(const OldRow& old, const std::string& changes) const {
  throw UsageError(path_ + ": --resume: row " + read(old)[result_column("run_id")] +
                   " was made with another " + changes +
                   "; allowed: --overwrite to make all rows anew, or another --csv");
}

void ResultLog::expect(const CsvRow& key_cells) {
  if (old_.empty()) return;
  const auto found = old_by_key_.find(key_of(key_cells));
  if (found == old_by_key_.end()) {
    const uint64_t name = name_of(key_cells);
    if (old_by_name_.contains(name))
      suspects_.push_back({name, &*inputs_
                                       .insert(key_cells[result_column("inputs")] + "\n" +
                                               key_cells[result_column("version")])
                                       .first});
    return;
  }
  OldRow& old = old_[found->second];
  old.expected = true;
  if (!old.has_result || key_cells[result_column("timing")].empty()) return;
  const CsvRow cells = read(old);
  if (cells[result_column("run_id")] != run_id(key_cells))
    refuse_change(old, changes_between(cells, key_cells[result_column("inputs")],
                                       key_cells[result_column("version")]));
}

// An old row that the sweep itself has is no changed one of another point.
void ResultLog::refuse_changes() const {
  for (const Suspect& suspect : suspects_) {
    const auto [begin, end] = old_by_name_.equal_range(suspect.name);
    for (auto other = begin; other != end; ++other) {
      const OldRow& old = old_[other->second];
      if (old.expected) continue;
      const size_t version = suspect.inputs->find('\n');
      refuse_change(old, changes_between(read(old), suspect.inputs->substr(0, version),
                                         std::string_view(*suspect.inputs).substr(version + 1)));
    }
  }
}

void ResultLog::refuse_changes(const std::vector<CsvRow>& sweep) {
  for (const CsvRow& cells : sweep) expect(cells);
  refuse_changes();
}

bool ResultLog::has(const CsvRow& key_cells) const {
  const OldRow* old = find_old(key_cells);
  return old != nullptr && old->has_result;
}

void ResultLog::keep_refused() {
  held_partial_.release();
  held_in_order_.release();
}

void ResultLog::start() {
  if (replaceable_) {
    OutputFile file(partial_path());
    table_.emplace(path_);
    file.write(result_header());
    table_->write(result_header());
    for (const OldRow& old : old_) {
      const std::string line = csv_line(read(old));
      file.write(line);
      if (!old.expected) table_->write(line);
    }
    file.commit();
  }
  if (path_ != "-") {
    partial_.open(replaceable_ ? partial_path() : path_, std::ios::binary | std::ios::app);
    if (!partial_) throw UsageError(path_ + ": cannot be written");
  }
  if (!replaceable_ && !held_in_order_.holds()) write_in_order(result_header());
}

void ResultLog::write_partial(const std::string& line) {
  partial_ << line << std::flush;
  if (!partial_) throw std::runtime_error(partial_path() + ": writing failed; is the disk full?");
}

void ResultLog::write_in_order(const std::string& line) {
  std::ostream& out = replaceable_ ? table_->stream() : path_ == "-" ? std::cout : partial_;
  out << line;
  if (!replaceable_) out << std::flush;
  if (out) return;
  if (path_ == "-") throw std::runtime_error("standard output cannot be written");
  throw std::runtime_error(path_ + ": writing failed; is the disk full?");
}

void ResultLog::append_finished(const CsvRow& row) {
  if (!replaceable_) return;
  const bool refused = row[result_column("status")] == status_refused;
  for (const std::string& line : held_partial_.pass(csv_line(row), refused)) write_partial(line);
}

void ResultLog::append(const CsvRow& row, bool is_in_partial_file) {
  if (!is_in_partial_file) append_finished(row);
  mark_used(row);
  if (remembers_) rows_.push_back(row);
  const std::string& status = row[result_column("status")];
  if (status == status_refused || status == status_failed) ++failures_;
  if (held_in_order_.empty()) first_refusal_ = row[result_column("message")];
  const bool held = held_in_order_.holds();
  const auto lines = held_in_order_.pass(csv_line(row), status == status_refused);
  if (held && !lines.empty() && !replaceable_) write_in_order(result_header());
  for (const std::string& line : lines) write_in_order(line);
}

void ResultLog::mark_used(const CsvRow& key_cells) {
  if (old_.empty()) return;
  const auto found = old_by_key_.find(key_of(key_cells));
  if (found != old_by_key_.end()) old_[found->second].used = true;
}

void ResultLog::keep(const CsvRow& key_cells) {
  mark_used(key_cells);
  for (const std::string& line : held_partial_.release()) write_partial(line);
  for (const std::string& line : held_in_order_.release()) write_in_order(line);
  write_in_order(csv_line(read(*find_old(key_cells))));
}

void ResultLog::finish() {
  if (!held_in_order_.empty()) {  // the partial file of this run goes; one that was there stays
    partial_.close();
    table_.reset();
    if (replaceable_ && !had_partial_) std::filesystem::remove(partial_path());
    throw Refusal(first_refusal_);
  }
  if (!replaceable_) {
    if (held_in_order_.holds()) write_in_order(result_header());  // of a table without rows
    return;
  }
  for (const OldRow& old : old_)
    if (old.expected && !old.used) write_in_order(csv_line(read(old)));
  table_->commit();
  partial_.close();
  std::filesystem::remove(partial_path());
}

void ResultLog::unlock() {
  table_.reset();  // its temporary file
  lock_.reset();
}

}  // namespace sawtooth::experiments
