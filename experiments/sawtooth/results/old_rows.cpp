#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
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
