// Traces as text: our CSV, and the `din` format of the Dinero IV cache simulator (Edler and Hill,
// "Dinero IV Trace-Driven Uniprocessor Cache Simulator", 1998), which others read as well.
#pragma once

#include <ostream>
#include <vector>

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

class CsvTraceWriter : public TraceWriter {
 public:
  explicit CsvTraceWriter(std::ostream& out);
  void atom(const TraceAtom& atom) override { atoms_.push_back(atom); }
  void visit(const TraceVisit& visit) override;
  void finish() override {}

 private:
  std::ostream& out_;
  std::vector<TraceAtom> atoms_;
};

/// A row a line: 0 (read) or 1 (write), and the byte address in hexadecimal. A prefetch is a read.
class DinTraceWriter : public TraceWriter {
 public:
  explicit DinTraceWriter(std::ostream& out) : out_(out) {}
  void atom(const TraceAtom& atom) override { atoms_.push_back(atom); }
  void visit(const TraceVisit& visit) override;
  void finish() override {}

 private:
  std::ostream& out_;
  std::vector<TraceAtom> atoms_;
};

}  // namespace sawtooth::sim
