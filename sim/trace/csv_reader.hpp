// Reads a trace as CSV, a row a visit. Only the column `line` must be there.
#pragma once

#include <array>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/trace/checks.hpp"
#include "sim/trace/csv_format.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

class CsvTraceReader : public TraceReader {
 public:
  CsvTraceReader(std::istream& in, std::string name, const TraceLimits& limits);
  bool next(TraceVisit& visit) override;
  const std::vector<TraceAtom>& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  bool read_row();
  void read_header();
  std::optional<std::string_view> cell(TraceColumn column) const;
  uint64_t number(TraceColumn column, uint64_t otherwise, uint64_t bound) const;
  template <class Names>
  size_t name(TraceColumn column, const Names& names, size_t otherwise) const;
  AtomId atom_of_row();

  std::istream& in_;
  std::string name_;
  TraceLimits limits_;
  std::string row_;
  std::vector<std::string_view> cells_;  // of row_
  uint64_t row_number_ = 0;
  std::array<std::optional<size_t>, trace_columns.size()> column_at_{};
  size_t columns_ = 0;
  std::vector<TraceAtom> atoms_;
  std::unordered_map<uint64_t, AtomId> atom_at_;  // by first line
  TraceTotals totals_;
  uint64_t last_step_ = 0;
  std::string description_;
};

}  // namespace sawtooth::sim
