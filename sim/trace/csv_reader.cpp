#include "sim/trace/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sawtooth::sim {
namespace {

constexpr size_t longest_row = 1024;             // nine numbers and names
constexpr size_t first_bytes = size_t{1} << 13;  // a short trace needs no more
constexpr size_t buffer_bytes = size_t{1} << 18;
constexpr ptrdiff_t most_plain_digits = 19;  // of a number that surely fits into 64 bits
constexpr uint64_t not_given = UINT64_MAX;

// Some editors and spreadsheets put this in front of UTF-8.
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

void CsvTraceReader::fail_at(uint64_t row, const std::string& what) const {
  throw TraceError(name_ + ":" + std::to_string(row) + ": " + what);
}

// Goes to the next row that is not empty; false at the end.
bool CsvTraceReader::read_row() {
  do {
    ++row_number_;
    const void* line_break = nullptr;
    for (;;) {
      line_break = unread_.empty() ? nullptr : std::memchr(unread_.data(), '\n', unread_.size());
      if (line_break != nullptr || all_read_) break;
      read_more();
    }
    if (unread_.empty()) return false;
    const size_t length = line_break == nullptr
                              ? unread_.size()
                              : size_t(static_cast<const char*>(line_break) - unread_.data());
    if (length > longest_row) {
      fail("a row of more than " + std::to_string(longest_row) + " characters");
    }
    row_ = unread_.substr(0, length);
    unread_.remove_prefix(std::min(length + 1, unread_.size()));
    if (row_.ends_with('\r')) row_.remove_suffix(1);
    if (row_number_ == 1 && row_.starts_with(byte_order_mark)) {
      row_.remove_prefix(byte_order_mark.size());
    }
  } while (row_.empty());
  return true;
}

// Puts more bytes behind those that are not read yet, which hold no whole row.
void CsvTraceReader::read_more() {
  const size_t left = unread_.size();
  if (left > longest_row) {
    fail("a row of more than " + std::to_string(longest_row) + " characters");
  }
  if (left > 0) std::memmove(buffer_.data(), unread_.data(), left);
  if (buffer_.size() < buffer_bytes) buffer_.resize(std::max(first_bytes, 4 * buffer_.size()));
  in_.read(buffer_.data() + left, static_cast<std::streamsize>(buffer_.size() - left));
  if (in_.bad()) fail("cannot be read");
  all_read_ = !in_;
  unread_ = std::string_view(buffer_).substr(0, left + static_cast<size_t>(in_.gcount()));
}

void CsvTraceReader::split_row() {
  if (row_.find_first_of(std::string_view("\"\0", 2)) != std::string_view::npos) {
    fail("a quote or a zero byte; a trace has plain numbers and names only");
  }
  cells_.clear();
  for (size_t begin = 0;;) {
    const size_t comma = row_.find(',', begin);
    cells_.push_back(row_.substr(begin, comma - begin));
    if (comma == std::string_view::npos) return;
    begin = comma + 1;
  }
}

void CsvTraceReader::read_header() {
  if (!read_row()) fail("the file is empty");
  split_row();
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
    columns_.push_back(static_cast<TraceColumn>(found - trace_columns.begin()));
  }
  if (!column_at_[static_cast<size_t>(TraceColumn::line)]) fail("there is no column 'line'");
}

bool CsvTraceReader::next(TraceVisit& visit) {
  if (next_ahead_ == end_ahead_) parse_ahead();
  if (next_ahead_ == end_ahead_) return false;
  Row& row = ahead_[next_ahead_++];
  row.visit.atom = last_atom_ = number_of(row);
  const std::string fault = totals_.add(row.visit, row.atom);
  if (!fault.empty()) fail_at(row.number, fault);
  visit = row.visit;
  return true;
}

// A row that is wrong waits until all rows before it have been taken.
void CsvTraceReader::parse_ahead() {
  if (fault_) std::rethrow_exception(fault_);
  next_ahead_ = end_ahead_ = 0;
  try {
    while (end_ahead_ < rows_at_a_time && parse_row(ahead_[end_ahead_])) {
      index_.fetch(ahead_[end_ahead_++].atom.first_line);
    }
  } catch (const TraceError&) {
    if (end_ahead_ == 0) throw;
    fault_ = std::current_exception();
  }
}

bool CsvTraceReader::parse_row(Row& row) {
  if (!read_row()) return false;
  if (!parse_plain(row.atom, row.visit)) parse_cells(row.atom, row.visit);
  if (row.visit.step < last_step_) {
    fail("step " + std::to_string(row.visit.step) + " goes back in time");
  }
  last_step_ = row.visit.step;
  row.number = row_number_;
  return true;
}

// Without any word on what is wrong: false leaves that to parse_cells().
bool CsvTraceReader::parse_plain(TraceAtom& atom, TraceVisit& visit) {
  std::array<uint64_t, trace_columns.size()> values;
  const auto value = [&](TraceColumn column) -> uint64_t& {
    return values[static_cast<size_t>(column)];
  };
  value(TraceColumn::step) = last_step_;
  value(TraceColumn::worker) = 0;
  value(TraceColumn::times) = 1;
  value(TraceColumn::access) = static_cast<uint64_t>(Access::read);
  value(TraceColumn::tensor) = static_cast<uint64_t>(Tensor::other);
  value(TraceColumn::line) = not_given;
  value(TraceColumn::lines) = 1;
  value(TraceColumn::sectors) = not_given;
  value(TraceColumn::direction) = 0;
  const char* at = row_.data();
  const char* const end = at + row_.size();
  const auto name_at = [&](const auto& names, uint64_t& number, uint64_t& last) {
    const char* const begin = at;
    const std::string_view same = names[last];  // most rows say what the row before said
    if (size_t(end - at) > same.size() && at[same.size()] == ',' &&
        std::memcmp(at, same.data(), same.size()) == 0) {
      at += same.size();
      if (!same.empty()) number = last;
      return true;
    }
    while (at != end && *at != ',') ++at;
    const std::string_view text(begin, static_cast<size_t>(at - begin));
    if (text.empty()) return true;
    number = static_cast<uint64_t>(std::find(names.begin(), names.end(), text) - names.begin());
    if (number == names.size()) return false;
    last = number;
    return true;
  };
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return false;
    uint64_t& cell = value(columns_[i]);
    if (columns_[i] == TraceColumn::access) {
      if (!name_at(access_names, cell, last_access_)) return false;
    } else if (columns_[i] == TraceColumn::tensor) {
      if (!name_at(tensor_names, cell, last_tensor_)) return false;
    } else if (columns_[i] == TraceColumn::direction) {
      if (!name_at(direction_names, cell, last_direction_)) return false;
    } else {
      const char* const begin = at;
      uint64_t number = 0;
      for (; at != end && *at >= '0' && *at <= '9'; ++at)
        number = 10 * number + uint64_t(*at - '0');
      if (at - begin > most_plain_digits) return false;
      if (at != begin) cell = number;
    }
  }
  const uint64_t lines = value(TraceColumn::lines);
  const uint64_t whole = lines * sectors_per_line;
  if (at != end || value(TraceColumn::line) >= trace_lines || lines > most_lines_of_an_atom ||
      value(TraceColumn::times) > most_times || value(TraceColumn::worker) > UINT32_MAX) {
    return false;
  }
  if (value(TraceColumn::sectors) == not_given) value(TraceColumn::sectors) = whole;
  if (value(TraceColumn::sectors) > whole) return false;
  atom = {value(TraceColumn::line), static_cast<uint32_t>(lines),
          static_cast<uint32_t>(value(TraceColumn::sectors)),
          static_cast<Tensor>(value(TraceColumn::tensor))};
  visit.access = static_cast<Access>(value(TraceColumn::access));
  visit.backwards = value(TraceColumn::direction) == 1;
  visit.times = static_cast<uint32_t>(value(TraceColumn::times));
  visit.worker = static_cast<uint32_t>(value(TraceColumn::worker));
  visit.step = value(TraceColumn::step);
  return true;
}

void CsvTraceReader::parse_cells(TraceAtom& atom, TraceVisit& visit) {
  split_row();
  if (cells_.size() != columns_.size()) {
    fail(std::to_string(cells_.size()) + " cells; the header has " +
         std::to_string(columns_.size()));
  }
  if (!cell(TraceColumn::line)) fail("line: a number is missing");
  atom.first_line = number(TraceColumn::line, 0, trace_lines);
  atom.lines = static_cast<uint32_t>(number(TraceColumn::lines, 1, most_lines_of_an_atom + 1));
  const uint64_t whole = uint64_t{atom.lines} * sectors_per_line;
  atom.sectors = static_cast<uint32_t>(number(TraceColumn::sectors, whole, whole + 1));
  atom.tensor = static_cast<Tensor>(
      name(TraceColumn::tensor, tensor_names, static_cast<size_t>(Tensor::other)));
  visit.access = static_cast<Access>(name(TraceColumn::access, access_names, 0));
  visit.backwards = name(TraceColumn::direction, direction_names, 0) == 1;
  visit.times = static_cast<uint32_t>(number(TraceColumn::times, 1, uint64_t{most_times} + 1));
  visit.worker = static_cast<uint32_t>(number(TraceColumn::worker, 0, uint64_t{1} << 32));
  visit.step = number(TraceColumn::step, last_step_, UINT64_MAX);
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

AtomId CsvTraceReader::number_of(const Row& row) {
  const TraceAtom& atom = row.atom;
  const AtomId known = index_.find_after(last_atom_, atom.first_line);
  if (known != AtomIndex::none) {
    if (atom == atoms_[known]) return known;
    fail_at(row.number, "the tile at line " + std::to_string(atom.first_line) +
                            " was another one before; its lines, sectors and tensor must stay");
  }
  if (atoms_.size() >= limits_.atoms) {
    fail_at(row.number, "more than " + std::to_string(limits_.atoms) +
                            " different tiles or lines; --most-atoms raises the limit");
  }
  const std::string fault = fault_of(atom);
  if (!fault.empty()) fail_at(row.number, fault);
  atoms_.push_back(atom);
  index_.add_last();
  return static_cast<AtomId>(atoms_.size() - 1);
}

}  // namespace sawtooth::sim
