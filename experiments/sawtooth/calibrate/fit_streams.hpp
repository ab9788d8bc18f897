// What the two-half model needs of a GPU, from its calibration streams alone.
//
// Parameters of the L2 are shared by all streams; how far SMs were apart is a fact of the kernel
// (one pair an access kind). Parameters that act linearly come from linear least squares, the
// others from experiments/sawtooth/calibrate/least_squares.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/streams.hpp"

namespace sawtooth::experiments {

/// DRAM reads, near misses, fabric reads and fabric misses: what a model of two halves is fitted to
/// and judged by, as sectors / sectors of the buffer.
using StreamShares = std::array<double, 4>;

/// One point and pass.
struct StreamReading {
  StreamPoint point;
  bool second_pass = false;
  StreamShares shares;           // medians of the repetitions
  StreamShares low;              // 5 % of the repetitions are below, as compare has it
  StreamShares high;             // 95 %
  std::optional<double> passed;  // reads that reach L2 / sectors that SMs receive
};

/// Reads of same, shift and all, in the order of their first rows. Throws std::invalid_argument
/// for a row without one of the four counters: another chip than one of two halves.
std::vector<StreamReading> stream_readings(const std::vector<StreamRow>& rows);

/// What a model may be off: DRAM reads 0.02, and 0.06 on the cliff; the others 0.03.
StreamShares stream_tolerances(const StreamPoint& point, int64_t l2_bytes);

/// Facts of the streams of one access kind.
struct StreamKindFit {
  double steady_skew_mib = 0, fresh_skew_mib = 0;
  double far_first_waiting = 0.5, far_first_running = 0.5;
};

struct StreamFit {
  sim::HalvesParameters l2;
  sim::CoalescerParameters coalescer;
  double crossing = 0;  // share of lines that `shift` reads from the other half
  StreamKindFit ld, tma;

  /// Nothing fitted yet. `ways` is taken as given: streams cannot tell it.
  static StreamFit of(int64_t l2_bytes, int64_t sms, int ways);
};

/// Fits to the second passes of same, shift and all (and the first ones of `all`). Throws
/// std::invalid_argument for a GPU without two halves, and for rows that lack a stream or counter
/// that the fit needs.
StreamFit fit_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes, int64_t sms, int ways);

/// One row a reading of `like`, as a measurement would give it.
std::vector<StreamRow> model_rows(const StreamFit& fit, const std::vector<StreamRow>& like);

/// Deviations of the model from second passes, as shares of the buffer. A reading's own repetitions
/// scatter, most of all in who comes first: as in compare, an error inside the 5 to 95 % range of
/// the repetitions is none.
struct StreamJudgement {
  int points = 0;
  int within = 0;  // of which the four counters are all within stream_tolerances()
  std::string worst;
  double worst_excess = 0;  // in tolerances
};

/// `chosen` says which points.
StreamJudgement judge_streams(const StreamFit& fit, const std::vector<StreamRow>& rows,
                              int64_t l2_bytes,
                              const std::function<bool(const StreamPoint&)>& chosen);

/// Every second size in MiB, from the second smallest on: what a held-out judgement fits to; the
/// rest is judged.
std::set<int64_t> fitted_sizes_mib(const std::vector<StreamRow>& rows);

/// A number of a fit, which may be free in the search for the fit.
struct FitNumber {
  std::string_view name;
  std::string_view unit;
  std::string_view how;  // source, rationale and effect
  double& (*in)(StreamFit&);
  std::string_view profile_key = {};  // empty: a fact of the run, not of the GPU
  // Where the search begins, its bounds, which are what the number can mean, and a small change of
  // a curve; 0: it is not searched for.
  double start = 0, low = 0, high = 0, step = 0;
};
std::span<const FitNumber> fit_numbers();

/// Every fitted number as name, value, unit and what it is.
std::vector<Figure> fit_figures(const StreamFit& fit);

/// Sections of a GPU profile (experiments/profiles/gpus) for what is a fact of the GPU.
std::string fit_profile_ini(const StreamFit& fit, const std::string& from);

// The model's side of a calibration: fit, held-out judgement and the files that they give.

inline const std::vector<std::string> fit_files{"fit.csv", "halves.ini", "model_counters.csv"};

/// Fits to every other size and judges the others, then fits to all; says both on `out`. Writes
/// fit_files into `folder`: sections for a GPU profile, and for `sawtooth plot calibration` the
/// model's streams. `from` names the readings.
StreamFit fit_and_write(OutputFolder& folder, const std::vector<StreamRow>& rows, int64_t l2_bytes,
                        int64_t sms, int ways, const std::string& from, std::ostream& out);

/// What `sawtooth calibrate` does without a GPU: the above from recorded readings (`--from FILE
/// --gpu NAME`), or files from records of items (calibrate_items). Empty: neither was asked for.
std::optional<int> calibrate_recorded(const ParsedCommandLine& parsed);

/// Ways where a profile does not say: assumed, hashed sets hide them.
inline constexpr int assumed_ways = 16;

}  // namespace sawtooth::experiments
