// A schedule in lockstep on a two-half L2 (model name `halves`).
#pragma once

#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

struct HalvesModel {
  HalvesParameters l2;
  CoalescerParameters coalescer;
};

/// The model is that of `gpu` with request.l2_bytes. Where the two halves are not calibrated they
/// are fully associative, as in timing = timed, and requests reach home and copy equally often.
HalvesModel halves_model(const Request& request, const Gpu& gpu);

/// All counters of sim/counters.hpp, by tensor and in total; the histogram stays empty, because a
/// curve over capacities is not what two halves have. Workers sit at the halves in turn.
/// Throws std::invalid_argument for bad parameters or tiles that share lines.
Prediction simulate_halves(const Request& request, const HalvesParameters& parameters,
                           const CoalescerParameters& coalescer);

}  // namespace sawtooth::sim
