// What the two-half model needs of a GPU, from its calibration streams alone.
//
// Parameters of the L2 are shared by all streams; how far SMs were apart is a fact of the kernel
// (one pair an access kind). Parameters that act linearly come from linear least squares, the
// others from experiments/sawtooth/calibrate/least_squares.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/calibrate/stream_row.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/streams.hpp"

namespace sawtooth::experiments {

/// Facts of the streams of one access kind.
struct StreamKindFit {
  double steady_skew_mib = 0;
  double fresh_skew_mib = 0;
  double far_first_waiting = 0.5;
  double far_first_running = 0.5;
};

struct StreamFit {
  sim::HalvesParameters l2;
  sim::CoalescerParameters coalescer;
  double crossing = 0;  // share of lines that `shift` reads from the other half
  StreamKindFit ld;
  StreamKindFit tma;
};

/// What the streams of `point` are simulated with.
sim::HalvesParameters l2_of(const StreamFit& fit, const StreamPoint& point);
sim::StreamRun run_of(const StreamFit& fit, const StreamPoint& point);

/// Fits to the second passes of same, shift and all (and the first ones of `all`). `ways` is
/// taken as given: streams cannot tell it. Throws std::invalid_argument for a GPU without two
/// halves, and for rows that lack a stream or counter that the fit needs.
StreamFit fit_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes, int64_t sms, int ways);

/// One row a range of `point`, as a measurement would give it.
std::vector<StreamRow> model_rows(const StreamFit& fit, const std::vector<StreamRow>& like);

/// Deviations of the model from second passes, as shares of the buffer. A reading's own repetitions
/// scatter, most of all in who comes first: `compared` judges as compare does, where an error
/// inside the 5 to 95 % range of the repetitions is none; `plain` is the distance to the median.
struct StreamJudgement {
  struct Count {
    int within = 0;  // points whose four counters are all within their tolerances
    std::string worst;
    double worst_excess = 0;  // in tolerances
  };
  int points = 0;
  Count plain;
  Count compared;
};

/// DRAM within 0.02 off the cliff and 0.06 on it (0.45 to 0.81 of L2); near misses, fabric reads
/// and fabric misses within 0.03. `chosen` says which points.
StreamJudgement judge_streams(const StreamFit& fit, const std::vector<StreamRow>& rows,
                              int64_t l2_bytes,
                              const std::function<bool(const StreamPoint&)>& chosen);

/// Every second size in MiB, from the second smallest on: what a held-out judgement fits to; the
/// rest is judged.
std::set<int64_t> fitted_sizes_mib(const std::vector<StreamRow>& rows);

/// Every fitted number as name, value, unit and what it is; and back. Throws std::invalid_argument
/// for figures without one of the names.
std::vector<Figure> fit_figures(const StreamFit& fit);
StreamFit fit_from_figures(const std::vector<Figure>& figures, int64_t l2_bytes, int64_t sms);

/// Sections of a GPU profile (experiments/profiles/gpus) for what is a fact of the GPU.
std::string fit_profile_ini(const StreamFit& fit, const std::string& from);

}  // namespace sawtooth::experiments
