#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <span>

#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

constexpr size_t longest_row = 1024;  // nine numbers and names
constexpr uint64_t not_given = UINT64_MAX;

/// What a cell may be: one of some names, or a number below a bound; and what it is where it is
/// empty or its column is not there.
struct CellKind {
  std::span<const std::string_view> names;
  uint64_t bound = 0, otherwise = 0;
};
constexpr uint64_t bound_32_bits = uint64_t{1} << 32;
constexpr std::array<CellKind, trace_columns.size()> cell_kinds{{
    {{}, UINT64_MAX, 0},  // a step; otherwise that of the row before
    {{}, bound_32_bits, 0},
    {{}, uint64_t{most_times} + 1, 1},
    {access_names, 0, static_cast<uint64_t>(Access::read)},
    {tensor_names, 0, static_cast<uint64_t>(Tensor::other)},
    {{}, trace_lines, not_given},
    {{}, uint64_t{most_lines_of_an_atom} + 1, 1},
    {{}, bound_32_bits, not_given},  // sectors; otherwise those of whole lines
    {direction_names, 0, 0},
}};

class CsvReader : public TraceReader {
 public:
  CsvReader(std::istream& in, const std::string& name, const TraceLimits& limits)
      : lines_(in, name, longest_row), limits_(limits) {
    read_header();
  }

  bool next(TraceVisit& visit) override {
    if (next_ahead_ == end_ahead_) parse_ahead();
    if (next_ahead_ == end_ahead_) return false;
    Row& row = ahead_[next_ahead_++];
    row.visit.atom = last_atom_ = number_of(row);
    const std::string fault = totals_.add(row.visit, row.atom);
    if (!fault.empty()) lines_.fail_at(row.number, fault);
    visit = row.visit;
    return true;
  }
  const TraceAtoms& atoms() const override { return atoms_; }
  bool begins_differ() const override { return true; }
  const std::string& description() const override { return description_; }

 private:
  // A row that is parsed; its atom has no number yet.
  struct Row {
    TraceAtom atom;
    TraceVisit visit;
    uint64_t number = 0;
  };
  static constexpr size_t rows_at_a_time = 32;  // enough to fetch ahead what the index looks up
  using Values = std::array<uint64_t, trace_columns.size()>;

  void read_header() {
    if (!lines_.next()) lines_.fail("the file is empty");
    refuse_quotes();
    for (const std::string_view cell : cells_of(lines_.line())) {
      const auto found = std::ranges::find(trace_columns, cell);
      if (found == trace_columns.end())
        lines_.fail(quoted(cell) + " is no column of a trace; allowed:" + listed(trace_columns));
      const auto column = static_cast<size_t>(found - trace_columns.begin());
      if (std::ranges::find(columns_, column) != columns_.end())
        lines_.fail("column " + quoted(cell) + " is there twice");
      columns_.push_back(column);
    }
    if (std::ranges::find(columns_, size_t(TraceColumn::line)) == columns_.end())
      lines_.fail("there is no column 'line'");
  }

  // A row that is wrong waits until all rows before it have been taken.
  void parse_ahead() {
    if (fault_) std::rethrow_exception(fault_);
    next_ahead_ = end_ahead_ = 0;
    try {
      while (end_ahead_ < rows_at_a_time && parse_row(ahead_[end_ahead_]))
        index_.fetch(ahead_[end_ahead_++].atom.first_line);
    } catch (const TraceError&) {
      if (end_ahead_ == 0) throw;
      fault_ = std::current_exception();
    }
  }

  bool parse_row(Row& row) {
    if (!lines_.next()) return false;
    Values values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = cell_kinds[i].otherwise;
    const auto value = [&](TraceColumn column) { return values[static_cast<size_t>(column)]; };
    values[static_cast<size_t>(TraceColumn::step)] = last_step_;
    const char* at = lines_.line().data();
    const char* const end = at + lines_.line().size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0 && at++ == end) fail_row({});
      at = parse_cell(columns_[i], at, end, values);
    }
    if (at != end) fail_row({});
    if (value(TraceColumn::line) == not_given) fail_row("line: a number is missing");
    const auto lines = static_cast<uint32_t>(value(TraceColumn::lines));
    const uint64_t sectors = value(TraceColumn::sectors);
    row.atom = {
        value(TraceColumn::line), lines,
        static_cast<uint32_t>(sectors == not_given ? uint64_t{lines} * sectors_per_line : sectors),
        static_cast<Tensor>(value(TraceColumn::tensor))};
    row.visit = {.access = static_cast<Access>(value(TraceColumn::access)),
                 .backwards = value(TraceColumn::direction) == 1,
                 .times = static_cast<uint32_t>(value(TraceColumn::times)),
                 .worker = static_cast<uint32_t>(value(TraceColumn::worker)),
                 .step = value(TraceColumn::step)};
    row.number = lines_.number();
    if (row.visit.step < last_step_)
      lines_.fail("step " + std::to_string(row.visit.step) + " goes back in time");
    last_step_ = row.visit.step;
    return true;
  }

  // The end of the cell that begins `at`.
  const char* parse_cell(size_t column, const char* at, const char* end, Values& values) const {
    const CellKind& kind = cell_kinds[column];
    if (at == end || *at == ',') return at;
    if (kind.names.empty()) {
      uint64_t number = 0;
      const auto [stop, error] = std::from_chars(at, end, number);
      if (error == std::errc{} && (stop == end || *stop == ',') && number < kind.bound) {
        values[column] = number;
        return stop;
      }
    }
    const char* const stop = std::find(at, end, ',');
    const std::string_view text(at, static_cast<size_t>(stop - at));
    const auto found = std::ranges::find(kind.names, text);
    if (found == kind.names.end())
      fail_row(std::string(trace_columns[column]) + ": " + quoted(text) +
               " is not allowed; allowed:" +
               (kind.names.empty() ? " a whole number below " + std::to_string(kind.bound)
                                   : listed(kind.names)));
    values[column] = static_cast<uint64_t>(found - kind.names.begin());
    return stop;
  }

  static std::string listed(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) text.append(" ").append(name);
    return text;
  }
  void refuse_quotes() const {
    if (lines_.line().find_first_of(std::string_view("\"\0", 2)) != std::string_view::npos)
      lines_.fail("a quote or a zero byte; a trace has plain numbers and names only");
  }
  // What is wrong with all of a row goes before what is wrong with a cell.
  [[noreturn]] void fail_row(const std::string& what) const {
    refuse_quotes();
    const size_t cells = cells_of(lines_.line()).size();
    if (cells != columns_.size())
      lines_.fail(std::to_string(cells) + " cells; the header has " +
                  std::to_string(columns_.size()));
    lines_.fail(what);
  }

  AtomId number_of(const Row& row) {
    const TraceAtom& atom = row.atom;
    const AtomId known = index_.find_after(last_atom_, atom.first_line);
    if (known != AtomIndex::none) {
      if (atom == atoms_[known]) return known;
      lines_.fail_at(row.number,
                     "the tile at line " + std::to_string(atom.first_line) +
                         " was another one before; its lines, sectors and tensor must stay");
    }
    if (atoms_.size() >= limits_.atoms) lines_.fail_at(row.number, too_many_atoms(limits_));
    const std::string fault = fault_of(atom);
    if (!fault.empty()) lines_.fail_at(row.number, fault);
    atoms_.push_back(atom);
    index_.add_last();
    return static_cast<AtomId>(atoms_.size() - 1);
  }

  TextLines lines_;
  TraceLimits limits_;
  std::vector<size_t> columns_;  // as the header has them
  TraceAtoms atoms_;
  AtomIndex index_{atoms_};
  AtomId last_atom_ = 0;
  std::array<Row, rows_at_a_time> ahead_;
  size_t next_ahead_ = 0, end_ahead_ = 0;
  std::exception_ptr fault_;  // of the row behind those ahead
  TraceTotals totals_;
  uint64_t last_step_ = 0;
  std::string description_;
};

}  // namespace

std::unique_ptr<TraceReader> csv_reader(std::istream& in, const std::string& name,
                                        const TraceLimits& limits) {
  return std::make_unique<CsvReader>(in, name, limits);
}

}  // namespace sawtooth::sim
