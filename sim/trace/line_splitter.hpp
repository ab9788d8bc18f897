// From visits to lines: every line of every visit becomes a visit of its own, worker after worker,
// in the order in which it was touched.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

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
