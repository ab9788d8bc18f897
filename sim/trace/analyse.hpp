// From a trace to the prediction that `simulate` makes of a schedule: the histogram of LRU stack
// distances, and counters at one capacity.
#pragma once

#include "sim/prediction.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

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

}  // namespace sawtooth::sim
