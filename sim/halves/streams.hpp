// The calibration streams as visits: a buffer is read twice by all SMs, as kernels/stream does on a
// GPU, so that model and measurement are the same experiment (docs/models/halves.md).
#pragma once

#include <cstdint>

#include "sim/counters.hpp"
#include "sim/halves/parameters.hpp"

namespace sawtooth::sim {

/// Who reads a line: the same SM both times, another SM the second time, every SM both times.
enum class StreamMap : uint8_t { same, shift, all };

struct Stream {
  StreamMap map = StreamMap::same;
  bool reversed = false;  // the second pass goes from the last line to the first
  int64_t bytes = 0;      // of the buffer; whole chunks are simulated
};

/// How the SMs run a stream: facts of the kernel and the die, not of the L2. Skews are standard
/// deviations over SMs of how far an SM is ahead of the others, as bytes of the whole buffer read
/// meanwhile; with `all` the shared misses keep SMs in step, and skews are not applied.
struct StreamRun {
  int64_t sms = 132;
  double crossing = 0.5;         // share of lines that `shift` reads from the other half
  double steady_skew_bytes = 0;  // the same in both passes: a late SM is late again
  double fresh_skew_bytes = 0;   // drawn anew for each pass
};

struct StreamCounters {
  Counters first;
  Counters second;
};

/// Both passes from a cold L2. Deterministic: skews come from a fixed permutation of the SMs.
/// Throws std::invalid_argument for an empty buffer or bad parameters.
StreamCounters simulate_stream(const Stream& stream, const StreamRun& run,
                               const HalvesParameters& parameters);

}  // namespace sawtooth::sim
