// Ring attention as one of its GPUs sees it (scheduler/ring.hpp): a call a step, while the K and V
// of the next step come in, and its own are read for another GPU.
//
// A rank does not wait for others: whose K and V it takes has them from the start. So each rank is
// replayed alone, from its first step to its last on one L2. Copy engines write past that L2,
// beside the call. SMs that copy (NCCL) write through it, to a line's home without a fill, and find
// no room beside persistent CTAs: their transfers come behind the call. docs/models/ring.md says
// what is known and what is assumed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/ring.hpp"
#include "sim/gpu.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

struct RingRequest {
  Request request;  // of the whole problem on one GPU
  Ring ring;
  LinkRates link;
  bool halves = false;  // of L2, where the GPU has them; else one block
  Copier copier = Copier::copy_engine;
};

/// The whole problem of `ring`'s rank in `step`; a call that does not exist has no rows.
Request step_request(const RingRequest& ring, int64_t rank, int64_t step);

struct RingStep {
  Counters total;
  std::array<Counters, tensor_count> by_tensor;
  int64_t tile_visits = 0;
  double transfer_us = 0;            // of this step's K and V; 0 for step 0
  std::optional<double> time_us;     // of the call, where the model of time knows it
  std::optional<double> exposed_us;  // from the end of the call before until K and V are there
};

/// All steps of one rank, one after another. Throws std::invalid_argument for what the models
/// cannot do.
std::vector<RingStep> simulate_rank(const RingRequest& ring, const Gpu& gpu, int64_t rank);

}  // namespace sawtooth::sim
