// Traces as text: our CSV, and the `din` format of the Dinero IV cache simulator (Edler and Hill,
// "Dinero IV Trace-Driven Uniprocessor Cache Simulator", 1998), which others read as well; and
// visits split into lines.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

enum class TraceColumn { step, worker, times, access, tensor, line, lines, sectors, direction };
inline constexpr auto trace_columns = std::to_array<std::string_view>(
    {"step", "worker", "times", "access", "tensor", "line", "lines", "sectors", "direction"});
inline constexpr auto direction_names = std::to_array<std::string_view>({"forwards", "backwards"});

/// `format` is no binary one.
std::unique_ptr<TraceWriter> text_writer(TraceFormat format, std::ostream& out);

/// Every line of every visit becomes a visit of its own, worker after worker, in the order in which
/// it was touched.
class LineSplitter : public TraceWriter {
 public:
  /// `lines` must outlive the splitter.
  explicit LineSplitter(TraceWriter& lines) : lines_(lines) {}
  void atom(const TraceAtom& atom) override;
  void visit(const TraceVisit& visit) override;
  void finish() override { lines_.finish(); }

 private:
  TraceWriter& lines_;
  std::vector<AtomId> first_;  // number of an atom's first line
  std::vector<uint32_t> sizes_;
  AtomId count_ = 0;
};

}  // namespace sawtooth::sim
