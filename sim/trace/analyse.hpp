// From a schedule to a trace, and from a trace to the prediction that `simulate` makes.
#pragma once

#include <functional>
#include <memory>

#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/sets/parameters.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

// From a trace to the prediction that `simulate` makes of a schedule: the histogram of LRU stack
// distances, and counters at one capacity.

/// Reads the rest of `reader` on a fully associative LRU of `l2_bytes`, exact for visits in both
/// directions (docs/models/exactness.md, A and D). Throws TraceError for a broken trace and for
/// atoms that overlap. Of a backward pass also counts reductions and write-backs; all of its visits
/// go forwards.
Prediction analyse_trace(TraceReader& reader, int64_t l2_bytes, const TraceLimits& limits,
                         Pass pass = Pass::forward);

/// Writes every visit of `reader` to `writer`, and finishes it.
void copy_trace(TraceReader& reader, TraceWriter& writer);

/// Reads what another reader does, and writes it as it goes by; the writer is finished at the end.
class CopyingReader : public TraceReader {
 public:
  /// Both must outlive this.
  CopyingReader(TraceReader& reader, TraceWriter& writer) : reader_(reader), writer_(writer) {}
  bool next(TraceVisit& visit) override;
  const TraceAtoms& atoms() const override { return reader_.atoms(); }
  bool begins_differ() const override { return reader_.begins_differ(); }
  const std::string& description() const override { return reader_.description(); }

 private:
  TraceReader& reader_;
  TraceWriter& writer_;
  size_t defined_ = 0;
};

// A trace at one capacity by the models that are no stack: sets with a replacement policy, and
// Belady's optimum.

/// Opens a trace at its beginning, for a reader that replaces the one before.
using OpenTrace = std::function<std::unique_ptr<TraceReader>()>;

/// As simulate_sets() of the schedule behind the trace, where it has one: the lines' addresses are
/// the trace's. Reads `reader` to its end and then the trace again, as the hash must know all lines
/// before the first visit. Throws TraceError for a broken trace, for atoms that overlap and for a
/// run of lines that is visited backwards, and std::invalid_argument as set_geometry() does.
Prediction replay_on_sets(TraceReader& reader, const OpenTrace& again, int64_t l2_bytes,
                          const SetsParameters& parameters, const TraceLimits& limits = {});

/// As simulate_opt(), in one pass. Throws TraceError likewise.
Prediction replay_by_optimum(TraceReader& reader, int64_t l2_bytes);

// The trace of a schedule: what LockstepWavefront tells its sink, as visits with addresses. Tensors
// lie one behind the other in the order of Tensor, head after head, each on a line boundary.

/// Replays `request` into `writer`, and finishes it. Workers that follow each other on one tile are
/// one visit. Throws std::invalid_argument as HeadAtoms does.
void write_schedule(const Request& request, TraceWriter& writer);

}  // namespace sawtooth::sim
