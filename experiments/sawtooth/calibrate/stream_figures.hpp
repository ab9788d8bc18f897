// What stream counters say about an L2: capacities, the edge, coalescing, who reaches a line first.
// Each figure is computed from named rows only and says how.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/metric_table.hpp"
#include "kernels/stream/stream_pass.hpp"

namespace sawtooth::experiments {

// One reading of a calibration stream: a buffer visited twice, in ranges p1 and p2, from a cold L2.
// A row is one range of one repetition; counts are sectors of 32 bytes (docs/models/streams.md).

/// same: the second pass reads each line from the SM of the first; shift: from the next SM;
/// all: every SM reads every line in both passes; one: a single SM reads everything.
enum class StreamShape : uint8_t { same, shift, all, one };
inline constexpr std::array<std::string_view, 4> stream_shape_names{"same", "shift", "all", "one"};

struct StreamPoint {
  kernels::StreamAccess access = kernels::StreamAccess::ld;
  StreamShape shape = StreamShape::same;
  bool reversed = false;  // the second pass runs from the other end
  int64_t mib = 8;        // size of the buffer

  double share_of(int64_t l2_bytes) const { return double(mib << 20) / double(l2_bytes); }
  bool operator==(const StreamPoint&) const = default;
};

/// For messages: "ld same reversed 40 MiB".
std::string name_of(const StreamPoint& point);

/// Sizes where L2 keeps some lines and not others: 28 to 48 MiB of 60.
inline bool on_cliff(const StreamPoint& point, int64_t l2_bytes) {
  return point.share_of(l2_bytes) > 0.45 && point.share_of(l2_bytes) < 0.81;
}

struct StreamRow {
  StreamPoint point;
  std::string range;  // p1, p2
  int64_t repetition = 0;
  int64_t expected_sectors = 0;  // that SMs ask for: sectors of the buffer times readers
  int64_t buffer_sectors = 0;
  std::array<std::optional<int64_t>, cupti::l2_counter_count> counts;
  std::vector<int64_t> dram_read_by_pass, sm_read_by_pass;
  int64_t replay_passes = 0;
  double wall_ms = 0;  // of the whole measurement with all passes and both ranges

  std::optional<int64_t>& count(cupti::L2Counter counter) {
    return counts[static_cast<size_t>(counter)];
  }
  std::optional<int64_t> count(cupti::L2Counter counter) const {
    return counts[static_cast<size_t>(counter)];
  }
  bool reads() const { return point.access != kernels::StreamAccess::write; }
  double share(int64_t sectors) const { return double(sectors) / double(buffer_sectors); }
};

/// DRAM reads, or fills from device and system memory where the chip has no DRAM counters.
std::optional<int64_t> dram_reads(const StreamRow& row);

/// Rows of one point and range, in the order of their first ones.
using Repetitions = std::vector<const StreamRow*>;
std::vector<Repetitions> repetitions_of(const std::vector<StreamRow>& rows);

/// One line of column names, one line a row. The first columns and the counters carry the names of
/// the first published table of an H200's stream counters.
std::string stream_csv(const std::vector<StreamRow>& rows);
/// Rows of a stream CSV. Throws UsageError that names file and line.
std::vector<StreamRow> read_stream_csv(const std::string& path);

/// Sizes that show a cache of `l2_bytes`: from 2/15 of it to a good two times it, closer together
/// around the cliff. On 60 MiB: 8, 16, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128 MiB.
std::vector<int64_t> stream_sizes_mib(int64_t l2_bytes);

/// Every point of a calibration; `tma` says whether the GPU has bulk copies.
std::vector<StreamPoint> stream_points(int64_t l2_bytes, bool tma);

/// What a calibration counts, in the order that packs into the fewest passes: misses first, as each
/// class of lookups opens a replay pass of its own.
std::span<const cupti::L2Counter> stream_counters();

struct Figure {
  std::string name;
  double value = 0;
  std::string unit, how;
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
  int64_t sms = 0, l2_bytes = 0, shared_memory_block_bytes = 0;
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
