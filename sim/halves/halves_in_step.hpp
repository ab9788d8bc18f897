// Two halves in lockstep: the visits of a step go half by half, and what they count.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/gpu.hpp"
#include "sim/halves/parameters.hpp"
#include "sim/halves/two_halves.hpp"
#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/visit.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {

/// Workers that touch one atom in direct succession, by the half that they sit at.
struct HalfVisit {
  AtomId atom = 0;
  Access access = Access::read;
  std::array<uint32_t, 2> times{};

  uint32_t all_times() const { return times[0] + times[1]; }
};

/// Half of worker w. Workers fill SMs in turn and SMs are numbered across the GPCs of both halves
/// in turn; a map measured on one die can replace this.
constexpr int half_of_worker(int64_t worker, int halves) {
  return static_cast<int>(worker % halves);
}

/// `Consumer` has visit(const HalfVisit&), and settle() for when all touches so far were visited.
/// Call flush() after the last touch.
template <class Consumer>
class HalfVisits : public WavefrontSink {
 public:
  /// With `merge` false every touch is a visit of its own. `sizes` must outlive this.
  HalfVisits(Consumer& consumer, const std::vector<AtomSize>& sizes,
             const HalvesParameters& parameters, bool merge)
      : consumer_(consumer),
        sizes_(sizes),
        halves_(parameters.halves),
        capacity_lines_(parameters.capacity_lines),
        merge_(merge) {}

  void touch(int64_t worker, AtomId atom, Access access) {
    const bool same = merge_ && !tile_.empty() && tile_.front().access == access;
    if (same && !again_ && sizes_[atom].goes_on && atom == tile_.back().atom + 1) {
      add(atom, access);
      next_ = tile_.size();
    } else {
      if (next_ == tile_.size()) next_ = 0;
      // Where a tile in parts exceeds a half, each worker drives out what the next one reads.
      const bool fits = tile_.size() == 1 || lines_ <= capacity_lines_;
      again_ = same && fits && tile_[next_].atom == atom;
      if (!again_) {
        flush();
        add(atom, access);
      }
      ++next_;
    }
    ++tile_[next_ - 1].times[static_cast<size_t>(half_of_worker(worker, halves_))];
  }

  void flush() {
    for (const HalfVisit& visit : tile_) consumer_.visit(visit);
    tile_.clear();
    lines_ = 0;
    next_ = 0;
    again_ = false;
    consumer_.settle();
  }

 private:
  void add(AtomId atom, Access access) {
    tile_.push_back({.atom = atom, .access = access});
    lines_ += sizes_[atom].lines;
  }

  Consumer& consumer_;
  const std::vector<AtomSize>& sizes_;
  int halves_;
  int64_t capacity_lines_;
  bool merge_;
  std::vector<HalfVisit> tile_;  // atoms of one tile, as the first worker touched them
  int64_t lines_ = 0;            // of these
  size_t next_ = 0;              // of these, what the next worker touches
  bool again_ = false;           // whether a second worker has begun
};

// A two-half L2 whose readers visit atoms in step, as in lockstep and in the calibration streams.
// Nothing tells then which half's request for a line comes first: measured shares do
// (HalvesParameters::far_first_waiting and _running), and those of the request coalescer.

class HalvesInStep : public TwoHalves {
 public:
  explicit HalvesInStep(const HalvesParameters& parameters, const LiveAtoms* heads = nullptr,
                        const CoalescerParameters& coalescer = {})
      : TwoHalves(parameters, heads), coalescer_(coalescer) {}

  /// With one half all workers count as those of half 0, whatever `times` says.
  void visit(const HalfVisit& visit);

  /// All counters of sim/counters.hpp; the identity DRAM reads = near misses - fabric reads +
  /// fabric misses holds exactly, but for what reductions fill.
  Counters counters(Tensor tensor) { return tally(tensor).counters(); }
  /// What they are made of.
  Tally tally(Tensor tensor);

  /// Visits of single workers so far.
  int64_t visits() const { return visits_; }

 private:
  void count_read(const HalfVisit& visit, const TwoHalves::MissedByHome& missed);

  CoalescerParameters coalescer_;
  // Of a tensor, in units: both asked, and the far half came first.
  std::array<double, tensor_count> far_first_{};
  double running_ = 0;  // share of all lines read lately that hit at their home
  int64_t visits_ = 0;
};

// A schedule in lockstep on a two-half L2 (model name `halves`).

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
