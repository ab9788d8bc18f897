// Reads a trace as CSV, a row a visit. Only the column `line` must be there.
//
// Rows of plain numbers and known names are read in one go; the others cell by cell, to say what is
// wrong with them.
#pragma once

#include <array>
#include <exception>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/checks.hpp"
#include "sim/trace/text_writers.hpp"
#include "sim/trace/trace.hpp"
#include "sim/trace/trace_atoms.hpp"

namespace sawtooth::sim {

class CsvTraceReader : public TraceReader {
 public:
  CsvTraceReader(std::istream& in, std::string name, const TraceLimits& limits);
  bool next(TraceVisit& visit) override;
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

  [[noreturn]] void fail(const std::string& what) const { fail_at(row_number_, what); }
  [[noreturn]] void fail_at(uint64_t row, const std::string& what) const;
  void parse_ahead();
  bool parse_row(Row& row);
  bool read_row();
  void read_more();
  void split_row();
  void read_header();
  bool parse_plain(TraceAtom& atom, TraceVisit& visit);
  void parse_cells(TraceAtom& atom, TraceVisit& visit);
  std::optional<std::string_view> cell(TraceColumn column) const;
  uint64_t number(TraceColumn column, uint64_t otherwise, uint64_t bound) const;
  template <class Names>
  size_t name(TraceColumn column, const Names& names, size_t otherwise) const;
  AtomId number_of(const Row& row);

  std::istream& in_;
  std::string name_;
  TraceLimits limits_;
  std::string buffer_;
  std::string_view unread_;              // of buffer_
  bool all_read_ = false;                // into buffer_
  std::string_view row_;                 // of buffer_
  std::vector<std::string_view> cells_;  // of row_
  uint64_t row_number_ = 0;
  std::array<std::optional<size_t>, trace_columns.size()> column_at_{};
  std::vector<TraceColumn> columns_;  // as the header has them
  TraceAtoms atoms_;
  AtomIndex index_{atoms_};
  AtomId last_atom_ = 0;
  std::array<Row, rows_at_a_time> ahead_;
  size_t next_ahead_ = 0, end_ahead_ = 0;
  std::exception_ptr fault_;  // of the row behind those ahead
  TraceTotals totals_;
  uint64_t last_step_ = 0;
  uint64_t last_access_ = 0, last_tensor_ = 0, last_direction_ = 0;  // numbers of names
  std::string description_;
};

}  // namespace sawtooth::sim
