// Reads a trace as CSV, a row a visit. Only the column `line` must be there.
//
// Rows of plain numbers and known names are read in one go; the others cell by cell, to say what is
// wrong with them.
#pragma once

#include <array>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/atom_index.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/csv_format.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

class CsvTraceReader : public TraceReader {
 public:
  CsvTraceReader(std::istream& in, std::string name, const TraceLimits& limits);
  bool next(TraceVisit& visit) override;
  const std::vector<TraceAtom>& atoms() const override { return atoms_; }
  bool begins_differ() const override { return true; }
  const std::string& description() const override { return description_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
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
  AtomId number_of(const TraceAtom& atom);

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
  std::vector<TraceAtom> atoms_;
  AtomIndex index_{atoms_};
  AtomId last_atom_ = 0;
  TraceTotals totals_;
  uint64_t last_step_ = 0;
  std::string description_;
};

}  // namespace sawtooth::sim
