#include "experiments/sawtooth/results/result_log.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// Refused rows beyond so many are no mistake in a key that all points share.
constexpr size_t most_held = 65536;

// So begin tables of results, whatever the version.
constexpr std::string_view partial_start = "experiment,source,";

// With its end, as far as a header of ours may reach: a file of another kind may be one line.
std::string first_line(std::istream& file) {
  std::string line(2 * result_header().size(), '\0');
  file.getline(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  if (file.good()) line.back() = '\n';
  return line;
}

// Those behind it.
uint64_t rest_lines(std::istream& file) {
  constexpr std::istreambuf_iterator<char> end;
  return static_cast<uint64_t>(std::count(std::istreambuf_iterator<char>(file), end, '\n'));
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
    table_.emplace(path_);
    if (std::filesystem::is_symlink(path_)) path_ = table_->path();
    replaceable_ = table_->replaceable();
  }
  if (replaceable_) refuse_partial_file(old);
  if (old == OldRows::replace_finished) refuse_other_files();
  if (old != OldRows::resume) return;
  if (!replaceable_) throw UsageError("--resume: needs --csv FILE to go on with");
  old_.emplace(path_, key_columns_);
  old_->add(path_, false);
  had_partial_ = old_->add(partial_path(), true);
}

// A header alone is nothing that could be lost.
void ResultLog::refuse_partial_file(OldRows old) const {
  std::ifstream file = left_behind(partial_path());
  const std::string header = first_line(file);
  if (!header.empty() && !header.starts_with(partial_start))
    throw UsageError(partial_path() + ": is in the way, and no table that a sweep left; remove " +
                     "it, or choose another --csv");
  const auto rows = rest_lines(file);
  if (rows == 0 || old != OldRows::replace_finished) return;
  throw UsageError(partial_path() + ": has " + how_many(rows, "row") +
                   " of a sweep that was interrupted; allowed: --resume to go on with them, " +
                   "--overwrite to leave them, or another --csv");
}

void ResultLog::refuse_other_files() const {
  if (!replaceable_) return;
  std::ifstream file = left_behind(path_);
  const std::string header = first_line(file);
  if (header.empty()) return;
  require_result_columns(parse_csv_record(header, path_, 1),
                         path_ + ": is not replaced: ", "allowed: --overwrite, or another --csv");
  const auto rows = rest_lines(file);
  if (rows > 0 && is_terminal(Output::error))
    std::cerr << "note: " << one_line(path_) << ": its " << rows << " rows are replaced\n";
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
    if (replaceable_ && !had_partial_) partial_->remove();
    unlock();
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
  partial_->remove();  // now that nothing can be lost
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

// Rows of an earlier run.

namespace {

constexpr size_t inputs_column = result_column("inputs"), version_column = result_column("version"),
                 id_column = result_column("run_id");

// "gpu=12ab kernel=34cd" as {"gpu=12ab", "kernel=34cd"}.
std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

void require_result_columns(const CsvRow& header, const std::string& place,
                            const std::string& allowed) {
  if (csv_line(header) == result_header()) return;
  const auto unknown = std::ranges::find_if(header, [](const std::string& name) {
    return std::ranges::find(result_columns, name, &ResultColumn::name) == result_columns.end();
  });
  const auto missing = std::ranges::find_if(result_columns, [&](const ResultColumn& column) {
    return std::ranges::find(header, column.name) == header.end();
  });
  std::string what = "in another order";
  if (missing != result_columns.end()) what = std::string("without ").append(missing->name);
  if (unknown != header.end()) what = std::string("which has no ").append(*unknown);
  throw UsageError(place + "its columns are not those of results.csv, " + what + "; " + allowed);
}

bool OldTable::add(const std::string& path, bool may_end_early) {
  auto text = std::make_unique<std::ifstream>(left_behind(path));
  if (!text->is_open()) return false;
  CsvFile file(std::move(text), path, may_end_early);
  if (file.header().empty()) return true;
  require_result_columns(file.header(), path + ": --resume: ",
                         "choose another --csv file, or leave --resume out to replace it");
  while (file.next()) {
    const Row row{file.place(records_.size()), file.cells()[result_column("status")] == "ok"};
    const auto [known, is_new] = by_key_.try_emplace(TextKey(row_key(file.cells(), key_columns_)),
                                                     static_cast<uint32_t>(rows_.size()));
    if (is_new)
      rows_.push_back(row);
    else if (row.has_result)
      rows_[known->second] = row;
    else
      continue;
    if (row.has_result) by_name_.emplace(name_of(file.cells()), known->second);
  }
  records_.add(path, left_behind(path));
  return true;
}

OldTable::Row* OldTable::find(const CsvRow& key_cells) {
  if (rows_.empty()) return nullptr;
  const auto found = by_key_.find(TextKey(row_key(key_cells, key_columns_)));
  return found == by_key_.end() ? nullptr : &rows_[found->second];
}

// A row's key without the contents of files and the program's version.
uint64_t OldTable::name_of(const CsvRow& cells) const {
  CsvRow name(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(key_columns_));
  for (const size_t column : {inputs_column, version_column, result_column("judged")})
    name[column].clear();
  return ContentHash().add(csv_line(name)).number();
}

// Says what differs: "gpu, order".
void OldTable::refuse(const CsvRow& old, const std::string& inputs,
                      const std::string& version) const {
  const std::set<std::string> then = words_of(old[inputs_column]), today = words_of(inputs);
  std::vector<std::string> differ;
  std::ranges::set_symmetric_difference(then, today, std::back_inserter(differ));
  std::set<std::string> kinds;
  for (const std::string& word : differ) kinds.insert(word.substr(0, word.find('=')));
  if (old[version_column] != version) kinds.insert("version");
  throw UsageError(path_ + ": --resume: row " + old[id_column] + " was made with another " +
                   (kinds.empty() ? "model" : join_list(kinds)) +
                   "; allowed: --overwrite to make all rows anew, or another --csv");
}

void OldTable::expect(const CsvRow& key_cells) {
  if (rows_.empty()) return;
  const std::string &inputs = key_cells[inputs_column], &version = key_cells[version_column];
  Row* old = find(key_cells);
  if (old == nullptr) {
    const uint64_t name = name_of(key_cells);
    if (by_name_.contains(name)) suspects_.push_back({name, inputs, version});
    return;
  }
  old->expected = true;
  if (!old->has_result || key_cells[result_column("timing")].empty()) return;
  const CsvRow cells = read(*old);
  if (cells[id_column] != run_id(key_cells)) refuse(cells, inputs, version);
}

// An old row that the sweep itself has is no changed one of another point.
void OldTable::refuse_changes() const {
  for (const Suspect& suspect : suspects_) {
    const auto [begin, end] = by_name_.equal_range(suspect.name);
    for (auto other = begin; other != end; ++other)
      if (!rows_[other->second].expected)
        refuse(read(rows_[other->second]), suspect.inputs, suspect.version);
  }
}

}  // namespace sawtooth::experiments
