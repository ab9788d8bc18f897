// What is to be predicted, as far as every L2 model needs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <stop_token>

#include "scheduler/item_shares.hpp"
#include "scheduler/l2_parts.hpp"
#include "scheduler/permutation.hpp"
#include "scheduler/problem.hpp"
#include "scheduler/scan.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/sequences.hpp"
#include "scheduler/tiling.hpp"
#include "sim/kernel_cost.hpp"
#include "sim/sets/parameters.hpp"
#include "sim/timed/mechanisms.hpp"

namespace sawtooth::sim {

class OwnScan {
 public:
  virtual ~OwnScan() = default;
  /// What steps 0 .. tiles - 1 visit: each position of [0, context.tiles) once. The array must live
  /// as long as this object. Called by several threads at once.
  virtual const int32_t* positions(const ScanContext& context) = 0;
};

// What is to be predicted, as far as every L2 model needs it.

/// lockstep: workers that hold an item advance one K/V tile a step and go on at once.
/// lockstep_wave: no worker starts the next item before all items in flight have ended.
/// timed: steps take time, and what comes late makes its worker wait (sim/timed/).
enum class Timing : uint8_t { lockstep, lockstep_wave, timed };

/// Thrown by a replay whose `stop` was requested.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "the simulation was stopped"; }
};

/// What the GPU computes before and around what is timed, which its power limit feels.
struct LoadBefore {
  double launches = 0.5;   // in a row, until half of the launch that counts is over
  double ring_rounds = 0;  // of a ring: rounds before the one that counts
};

/// The call covers a part of the keys: results are summed in float with those of the calls over
/// other parts (ring attention).
struct Running {
  bool on = false;
  bool begins = false;    // the first part: what lies there is overwritten
  bool finishes = false;  // the sum is also rounded to O
};

/// What calls over parts of the keys have that one call over all of them has not.
struct KeyParts {
  bool exist = false;
  int64_t buffers = 1;  // for the K and V of a part; each is further heads of these tensors
  int64_t pieces = 0;   // most partial results of a last wave that is cut, of any of the calls
};

struct Request {
  Problem problem{};
  Tiling tiling{};
  Schedule schedule{};
  Sequences sequences{};  // not owned
  ItemShares shares{};    // of kv-split = auto; not owned
  bool cascade = false;   // prefixes are scanned once a stack of sequences (scheduler/cascade.hpp)
  Timing timing = Timing::lockstep;
  int64_t l2_bytes = 0;
  SetsParameters sets;        // of the L2 model `sets` alone
  bool bulk_loads = false;    // tiles come by TMA, as count_in_bulk() says; of the halves alone
  bool whole_tiles = false;   // an SM receives what a box of TMA has past the end of the tensor too
  bool atomic_words = false;  // attach's words are exchanged (sim/schedule/beside_tiles.hpp)
  bool log_sum_exp = false;   // also write the log-sum-exp of every row
  Running running{};
  KeyParts key_parts{};
  L2Parts parts{};  // of an L2 with private ones: items are those of `part`
  int64_t part = 0;
  MechanismSet without{};  // mechanisms of `timed` that are switched off
  KernelCost kernel{};     // of `timed`
  LoadBefore load{};       // of `timed`
  int64_t launches = 1;    // of `timed` that are simulated, the middle one of which is predicted
  int64_t launch = 0;      // this one among them
  OwnScan* own_scan = nullptr;                  // instead of the schedule's scan; not owned
  std::stop_token stop{};                       // looked at in every step of a replay
  std::atomic<int64_t>* items_begun = nullptr;  // counted up by the replay, for who watches it
  // Exact shortcuts D and C of docs/models/exactness.md, to be switched off for differential tests.
  bool merge_lockstep = true;
  bool use_period = true;

  void throw_if_stopped() const {
    if (stop.stop_requested()) throw Stopped{};
  }
  /// It seeds what is random in time and in memory, apart from what is random in the schedule.
  uint64_t seed_of_launch() const {
    return launch == 0 ? schedule.seed : mix_seed(schedule.seed, static_cast<uint64_t>(launch));
  }
};

}  // namespace sawtooth::sim
