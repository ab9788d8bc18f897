// Traces as text: our CSV, and the `din` format of the Dinero IV cache simulator (Edler and Hill,
// "Dinero IV Trace-Driven Uniprocessor Cache Simulator", 1998), which others read as well.
#pragma once

#include <ostream>
#include <vector>

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

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

}  // namespace sawtooth::sim
