// What stream counters say about an L2: capacities, the edge, coalescing, who reaches a line first.
// Each figure is computed from named rows only and says how.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string how;
};

/// Figures that the rows allow; a missing series leaves its figure out, never a made-up value.
///  private_kept, shared_kept (MiB): what stays of a buffer that is read from the same SMs (by all
///    SMs), second time reversed: N - DRAM bytes of the second pass, median over buffers above
///    0.9 of L2.
///  private_edge_10, _90 (and shared_): the sizes where a linear second pass misses 10 % and 90 %,
///    by linear interpolation between measured sizes: how soft the edge is.
///  far_first_share: f, the share of lines that the far half's request reaches first when all SMs
///    read in step: fabric misses / DRAM reads of cold `all` passes.
///  coalescer_all_low, _high: reads that reach L2 / sectors that SMs receive in `all`.
std::vector<Figure> stream_figures(const std::vector<StreamRow>& rows, int64_t l2_bytes);

/// name,value,unit,how
std::string figures_csv(const std::vector<Figure>& figures);
/// name = value unit, a line each.
std::string figures_text(const std::vector<Figure>& figures);

/// The figure called `name`, or null.
const Figure* find_figure(const std::vector<Figure>& figures, std::string_view name);

struct MeasuredGpu {
  std::string description;  // e.g. "NVIDIA H200"
  int64_t sms = 0;
  int64_t l2_bytes = 0;
  int64_t shared_memory_block_bytes = 0;
  std::string max_sm_clock_mhz;  // "unknown" leaves the parameter out
  std::string how;               // driver and date, for the notes
};

/// The text of a profile: each parameter with value, source `measured` and a note that says how.
/// Figures that are not there leave their parameter out.
std::string gpu_profile_ini(const MeasuredGpu& gpu, const std::vector<Figure>& figures);

// What must be true of stream counters on any GPU, whatever its L2: the counters check themselves.

struct CheckLine {
  std::string name;
  bool passed = false;
  std::string detail;  // the figures, the worst point and the tolerance
};

/// Every check, or the one called `name`; one that saw no row has not passed.
/// docs/models/streams.md says what each of them is, and how much it allows.
std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes,
                                     std::string_view name = {});

/// "PASS name: detail" or "FAIL ...", a line each.
std::string checks_text(const std::vector<CheckLine>& checks);
bool all_passed(const std::vector<CheckLine>& checks);

}  // namespace sawtooth::experiments
