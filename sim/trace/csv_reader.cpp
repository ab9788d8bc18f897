#include "sim/trace/csv_reader.hpp"

#include <algorithm>
#include <charconv>

namespace sawtooth::sim {
namespace {

constexpr size_t longest_row = 1024;  // nine numbers and names

// Of UTF-8, as some editors and spreadsheets put it in front.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// As a message shows it: not more than its beginning.
std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  std::string quote(1, '\'');
  return quote.append(text.substr(0, longest)).append("'");
}

}  // namespace

CsvTraceReader::CsvTraceReader(std::istream& in, std::string name, const TraceLimits& limits)
    : in_(in), name_(std::move(name)), limits_(limits) {
  read_header();
}

void CsvTraceReader::fail(const std::string& what) const {
  throw TraceError(name_ + ":" + std::to_string(row_number_) + ": " + what);
}

// Splits the next row that is not empty into cells_; false at the end.
bool CsvTraceReader::read_row() {
  for (;;) {
    ++row_number_;
    row_.resize(longest_row + 1);
    in_.getline(row_.data(), static_cast<std::streamsize>(row_.size()));
    const auto taken = static_cast<size_t>(in_.gcount());
    if (in_.bad()) fail("cannot be read");
    if (in_.fail() && !in_.eof()) {
      fail("a row of more than " + std::to_string(longest_row) + " characters");
    }
    if (taken == 0) return false;
    row_.resize(in_.eof() ? taken : taken - 1);  // without the line break
    if (row_.ends_with('\r')) row_.pop_back();
    if (row_number_ == 1 && row_.starts_with(byte_order_mark))
      row_.erase(0, byte_order_mark.size());
    if (!row_.empty()) break;
  }
  if (row_.find_first_of(std::string_view("\"\0", 2)) != std::string::npos) {
    fail("a quote or a zero byte; a trace has plain numbers and names only");
  }
  cells_.clear();
  const std::string_view row = row_;
  for (size_t begin = 0;;) {
    const size_t comma = row.find(',', begin);
    cells_.push_back(row.substr(begin, comma - begin));
    if (comma == std::string_view::npos) return true;
    begin = comma + 1;
  }
}

void CsvTraceReader::read_header() {
  if (!read_row()) fail("the file is empty");
  for (size_t i = 0; i < cells_.size(); ++i) {
    const auto found = std::find(trace_columns.begin(), trace_columns.end(), cells_[i]);
    if (found == trace_columns.end()) {
      std::string known;
      for (const std::string_view column : trace_columns) known.append(" ").append(column);
      fail(quoted(cells_[i]) + " is no column of a trace; allowed:" + known);
    }
    auto& at = column_at_[static_cast<size_t>(found - trace_columns.begin())];
    if (at) fail("column " + quoted(cells_[i]) + " is there twice");
    at = i;
  }
  columns_ = cells_.size();
  if (!column_at_[static_cast<size_t>(TraceColumn::line)]) fail("there is no column 'line'");
}

bool CsvTraceReader::next(TraceVisit& visit) {
  if (!read_row()) return false;
  if (cells_.size() != columns_) {
    fail(std::to_string(cells_.size()) + " cells; the header has " + std::to_string(columns_));
  }
  visit.atom = atom_of_row();
  visit.access = static_cast<Access>(name(TraceColumn::access, access_names, 0));
  visit.backwards = name(TraceColumn::direction, direction_names, 0) == 1;
  visit.times = static_cast<uint32_t>(number(TraceColumn::times, 1, uint64_t{most_times} + 1));
  visit.worker = static_cast<uint32_t>(number(TraceColumn::worker, 0, uint64_t{1} << 32));
  visit.step = number(TraceColumn::step, last_step_, UINT64_MAX);
  if (visit.step < last_step_) fail("step " + std::to_string(visit.step) + " goes back in time");
  last_step_ = visit.step;
  const std::string fault = totals_.add(visit, atoms_[visit.atom]);
  if (!fault.empty()) fail(fault);
  return true;
}

std::optional<std::string_view> CsvTraceReader::cell(TraceColumn column) const {
  const auto& at = column_at_[static_cast<size_t>(column)];
  if (!at || cells_[*at].empty()) return std::nullopt;
  return cells_[*at];
}

uint64_t CsvTraceReader::number(TraceColumn column, uint64_t otherwise, uint64_t bound) const {
  const auto text = cell(column);
  if (!text) return otherwise;
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || stop != text->data() + text->size() || value >= bound) {
    fail(std::string(trace_columns[static_cast<size_t>(column)]) + ": " + quoted(*text) +
         " is not allowed; allowed: a whole number below " + std::to_string(bound));
  }
  return value;
}

template <class Names>
size_t CsvTraceReader::name(TraceColumn column, const Names& names, size_t otherwise) const {
  const auto text = cell(column);
  if (!text) return otherwise;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  std::string known;
  for (const std::string_view each : names) known.append(" ").append(each);
  fail(std::string(trace_columns[static_cast<size_t>(column)]) + ": " + quoted(*text) +
       " is not allowed; allowed:" + known);
}

AtomId CsvTraceReader::atom_of_row() {
  if (!cell(TraceColumn::line)) fail("line: a number is missing");
  TraceAtom atom;
  atom.first_line = number(TraceColumn::line, 0, trace_lines);
  const auto known = atom_at_.find(atom.first_line);
  const TraceAtom* before = known == atom_at_.end() ? nullptr : &atoms_[known->second];
  atom.lines = static_cast<uint32_t>(number(TraceColumn::lines, 1, most_lines_of_an_atom + 1));
  const uint64_t whole = uint64_t{atom.lines} * sectors_per_line;
  atom.sectors = static_cast<uint32_t>(number(TraceColumn::sectors, whole, whole + 1));
  atom.tensor = static_cast<Tensor>(
      name(TraceColumn::tensor, tensor_names, static_cast<size_t>(Tensor::other)));
  if (before != nullptr) {
    if (atom == *before) return known->second;
    fail("the tile at line " + std::to_string(atom.first_line) +
         " was another one before; its lines, sectors and tensor must stay");
  }
  if (atoms_.size() >= limits_.atoms) {
    fail("more than " + std::to_string(limits_.atoms) +
         " different tiles or lines; --most-atoms raises the limit");
  }
  const std::string fault = fault_of(atom);
  if (!fault.empty()) fail(fault);
  atom_at_.emplace(atom.first_line, static_cast<AtomId>(atoms_.size()));
  atoms_.push_back(atom);
  return static_cast<AtomId>(atoms_.size() - 1);
}

}  // namespace sawtooth::sim
