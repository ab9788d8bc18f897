// Traces as text: our CSV, Dinero's `din`, and visits split into lines.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

enum class TraceColumn { step, worker, times, access, tensor, line, lines, sectors, direction };
inline constexpr auto trace_columns = std::to_array<std::string_view>(
    {"step", "worker", "times", "access", "tensor", "line", "lines", "sectors", "direction"});
inline constexpr auto direction_names = std::to_array<std::string_view>({"forwards", "backwards"});

// Traces as text: our CSV, and the `din` format of the Dinero IV cache simulator (Edler and Hill,
// "Dinero IV Trace-Driven Uniprocessor Cache Simulator", 1998), which others read as well.

/// What both formats share: a visit is written at once, in terms of the atoms named before it.
class TextTraceWriter : public TraceWriter {
 public:
  explicit TextTraceWriter(std::ostream& stream) : out_(stream) {}
  void atom(const TraceAtom& atom) final { atoms_.push_back(atom); }
  void finish() final {}

 protected:
  std::ostream& out() { return out_; }
  TraceAtom atom_at(size_t index) const { return atoms_[index]; }

 private:
  std::ostream& out_;
  TraceAtoms atoms_;
};

class CsvTraceWriter : public TextTraceWriter {
 public:
  explicit CsvTraceWriter(std::ostream& stream);
  void visit(const TraceVisit& visit) override;
};

/// A row a line: 0 (read) or 1 (write), and the byte address in hexadecimal. A prefetch is a read.
class DinTraceWriter : public TextTraceWriter {
 public:
  using TextTraceWriter::TextTraceWriter;
  void visit(const TraceVisit& visit) override;
};

// From visits to lines: every line of every visit becomes a visit of its own, worker after worker,
// in the order in which it was touched.

class LineSplitter : public TraceWriter {
 public:
  /// `lines` must outlive the splitter.
  explicit LineSplitter(TraceWriter& lines) : lines_(lines) {}

  void atom(const TraceAtom& atom) override {
    first_.push_back(count_);
    sizes_.push_back(atom.lines);
    count_ += atom.lines;
    uint32_t sectors = atom.sectors;
    for (uint32_t i = 0; i < atom.lines; ++i) {
      const uint32_t own = std::min(sectors, uint32_t{sectors_per_line});
      lines_.atom({atom.first_line + i, 1, own, atom.tensor});
      sectors -= own;
    }
  }

  void visit(const TraceVisit& visit) override {
    TraceVisit line = visit;
    line.times = 1;
    line.backwards = false;
    const uint32_t size = sizes_.at(visit.atom);
    for (uint32_t time = 0; time < visit.times; ++time) {
      line.worker = visit.worker + time;
      for (uint32_t i = 0; i < size; ++i) {
        line.atom = first_[visit.atom] + (visit.backwards ? size - 1 - i : i);
        lines_.visit(line);
      }
    }
  }

  void finish() override { lines_.finish(); }

 private:
  TraceWriter& lines_;
  std::vector<AtomId> first_;  // number of an atom's first line
  std::vector<uint32_t> sizes_;
  AtomId count_ = 0;
};

}  // namespace sawtooth::sim
