#include "experiments/sawtooth/results/result_log.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Refused rows beyond so many are no mistake in a key that all points share.
constexpr size_t most_held = 65536;

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
    table_.emplace(path_);
    if (std::filesystem::is_symlink(path_)) path_ = table_->path();
    replaceable_ = table_->replaceable();
  }
  if (replaceable_) left_behind(partial_path());  // refuses what stands in its way
  if (old == OldRows::replace_finished) {
    refuse_unfinished();
    refuse_other_files();
  }
  if (old != OldRows::resume) return;
  if (!replaceable_) throw UsageError("--resume: needs --csv FILE to go on with");
  old_.emplace(path_, key_columns_);
  old_->add(path_, false);
  had_partial_ = old_->add(partial_path(), true);
}

// A header alone is nothing that could be lost.
void ResultLog::refuse_unfinished() const {
  if (!replaceable_) return;
  std::ifstream file = left_behind(partial_path());
  const auto lines =
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  if (lines < 2) return;
  throw UsageError(partial_path() + ": has " + std::to_string(lines - 1) +
                   (lines == 2 ? " row" : " rows") +
                   " of a sweep that was interrupted; allowed: --resume to go on with them, " +
                   "--overwrite to leave them, or another --csv");
}

void ResultLog::refuse_other_files() const {
  if (!replaceable_) return;
  std::ifstream file = left_behind(path_);
  std::string header;
  if (!std::getline(file, header) || header.empty()) return;
  require_result_columns(parse_csv_record(header, path_, 1),
                         path_ + ": is not replaced: ", "allowed: --overwrite, or another --csv");
  const auto rows =
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
  if (rows > 0 && is_terminal(Output::error))
    std::cerr << "note: " << path_ << ": its " << rows << " rows are replaced\n";
}

void ResultLog::refuse_changes(const std::vector<CsvRow>& sweep) {
  for (const CsvRow& cells : sweep) expect(cells);
  refuse_changes();
}

bool ResultLog::has(const CsvRow& key_cells) const {
  const OldTable::Row* row = old_ ? old_->find(key_cells) : nullptr;
  return row != nullptr && row->has_result;
}

void ResultLog::start() {
  if (replaceable_) {
    partial_.emplace(*table_, partial_ending);
    partial_->write(result_header());
    table_->write(result_header());
    if (old_) {
      for (const OldTable::Row& row : old_->rows()) {
        const std::string line = csv_line(old_->read(row));
        partial_->write(line);
        if (!row.expected) table_->write(line);
      }
    }
    partial_->commit(true);
  } else if (!holds_) {
    write(result_header());
  }
}

void ResultLog::write(const std::string& line) {
  std::ostream& out = table_ ? table_->stream() : std::cout;
  out << line;
  if (!replaceable_) out << std::flush;
  if (out) return;
  if (path_ == "-") throw std::runtime_error("standard output cannot be written");
  throw std::runtime_error(path_ + ": writing failed; is the disk full?");
}

void ResultLog::release_held() {
  const bool held = std::exchange(holds_, false);
  if (held && !held_.empty() && !replaceable_) write(result_header());
  for (const std::string& line : std::exchange(held_, {})) write(line);
}

void ResultLog::append_finished(const CsvRow& row) {
  if (!replaceable_ || row[result_column("status")] == status_refused) return;
  partial_->stream() << csv_line(row) << std::flush;
  if (!partial_->stream())
    throw std::runtime_error(partial_path() + ": writing failed; is the disk full?");
}

void ResultLog::append(const CsvRow& row, bool is_in_partial_file) {
  if (!is_in_partial_file) append_finished(row);
  mark_used(row);
  if (remembers_) rows_.push_back(row);
  const std::string& status = row[result_column("status")];
  if (status == status_refused || status == status_failed) ++failures_;
  if (held_.empty()) first_refusal_ = row[result_column("message")];
  held_.push_back(csv_line(row));
  if (!holds_ || status != status_refused || held_.size() > most_held) release_held();
}

void ResultLog::mark_used(const CsvRow& key_cells) {
  OldTable::Row* row = old_ ? old_->find(key_cells) : nullptr;
  if (row != nullptr) row->used = true;
}

void ResultLog::keep(const CsvRow& key_cells) {
  mark_used(key_cells);
  release_held();
  write(csv_line(old_row(key_cells)));
}

void ResultLog::finish() {
  if (!held_.empty()) {  // the partial file of this run goes; one that was there stays
    unlock();
    if (replaceable_ && !had_partial_) std::filesystem::remove(partial_path());
    throw Refusal(first_refusal_);
  }
  if (!replaceable_) {
    if (holds_) write(result_header());  // of a table without rows
    return;
  }
  if (old_)
    for (const OldTable::Row& row : old_->rows())
      if (row.expected && !row.used) write(csv_line(old_->read(row)));
  table_->commit();
  std::filesystem::remove(partial_path());
  unlock();
}

void ResultLog::unlock() {
  partial_.reset();
  table_.reset();  // its temporary file
}

bool Shard::has(std::string_view run_id) const {
  constexpr int hexadecimal = 16;
  return number_of<uint64_t>(run_id, hexadecimal).value_or(0) % count == number - 1;
}

Shard shard_of(const Settings& outputs) {
  const std::string text = value_or(outputs, "shard", "1/1");
  const size_t slash = text.find('/');
  try {
    if (slash == std::string::npos) throw std::invalid_argument("no slash");
    const Shard shard{static_cast<uint64_t>(parse_count(text.substr(0, slash))),
                      static_cast<uint64_t>(parse_count(text.substr(slash + 1)))};
    if (shard.number < 1 || shard.number > shard.count) throw std::invalid_argument("no part");
    return shard;
  } catch (const std::invalid_argument&) {
    throw UsageError(place_of("shard", outputs.at("shard").origin) + ": '" + text +
                     "' is not allowed; allowed: I/N, whole numbers with 1 <= I <= N");
  }
}

}  // namespace sawtooth::experiments
