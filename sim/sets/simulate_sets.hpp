// A schedule in lockstep on a hashed set-associative L2 (model name `sets`).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "sim/prediction.hpp"
#include "sim/request.hpp"
#include "sim/schedule/visit.hpp"
#include "sim/sets/partition.hpp"

namespace sawtooth::sim {

/// Reads and writes with the counters of simulate_lru(), by tensor and in total; a write allocates
/// without a fill. The histogram stays empty: sets have no curve over capacities. `method` says
/// whether tiles stood for their lines. Takes request.sets, and request.l2_bytes as the capacity.
/// Throws std::invalid_argument for a bad geometry (set_geometry) or tiles that share lines.
Prediction simulate_sets(const Request& request);

// Visits on sets: gathered into batches, fed to the engine, counted by tensor and access.

/// A partition under `parameters`, of no atoms so far.
inline SetPartition set_partition(const SetGeometry& geometry, const SetsParameters& parameters) {
  std::string why_by_lines;
  if (parameters.by_lines)
    why_by_lines = "it was asked for";
  else if (parameters.policy == SetPolicy::random)
    why_by_lines = "every set draws random victims of its own";
  return SetPartition(SetHash(parameters, geometry.sets), geometry.line_bytes,
                      !why_by_lines.empty(), why_by_lines);
}

/// `Atoms` is LiveAtoms, or has its size(), sizes() and tensor_of().
template <class Atoms>
class SetsConsumer {
 public:
  /// `atoms` and `partition`, both of which may grow, must outlive this.
  SetsConsumer(const Atoms& atoms, const SetPartition& partition, const SetGeometry& geometry,
               const SetsParameters& parameters)
      : atoms_(atoms),
        partition_(partition),
        of_tensor_(parameters.priorities),
        engine_(make_set_engine(partition, geometry, parameters,
                                all_normal(parameters) ? nullptr : &priorities_)),
        tally_(atoms) {}

  void visit(const Visit& visit) {
    tally_.accessed(visit);
    const uint32_t distinct = partition_.one_line_a_set(visit.atom) ? 1 : visit.times;
    for (uint32_t i = 0; i < distinct; ++i) {
      waiting_.push_back(visit.atom);
      accesses_.push_back(visit.access);
    }
    if (waiting_.size() >= batch_visits) drain();
  }

  /// Call it after the last visit.
  void drain() {
    for (size_t a = priorities_.size(); a < atoms_.sizes().size(); ++a) {
      const Tensor tensor = atoms_.tensor_of(static_cast<AtomId>(a));
      priorities_.push_back(of_tensor_[static_cast<size_t>(tensor)]);
    }
    missed_.resize(waiting_.size());
    engine_->visit(waiting_, missed_);
    for (size_t i = 0; i < waiting_.size(); ++i)
      tally_.missed(waiting_[i], accesses_[i], missed_[i]);
    waiting_.clear();
    accesses_.clear();
  }

  /// Whether all visits so far have been counted.
  bool is_drained() const { return waiting_.empty(); }

  const SetEngine& engine() const { return *engine_; }
  /// These are other atoms now, whose parts are not held.
  void forget(AtomRange atoms) {
    tally_.forget(atoms);
    for (AtomId atom = atoms.begin; atom < atoms.end; ++atom) engine_->forget(atom);
  }

  const AccessTally<Atoms>& tally() const { return tally_; }

 private:
  static constexpr size_t batch_visits = 1024;  // keeps a batch and its results in the L1 cache

  static bool all_normal(const SetsParameters& parameters) {
    return std::all_of(parameters.priorities.begin(), parameters.priorities.end(),
                       [](Priority priority) { return priority == Priority::normal; });
  }

  const Atoms& atoms_;
  const SetPartition& partition_;
  std::array<Priority, tensor_count> of_tensor_;
  std::vector<Priority> priorities_;  // of an atom
  std::unique_ptr<SetEngine> engine_;
  AccessTally<Atoms> tally_;
  std::vector<AtomId> waiting_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> missed_;
};

}  // namespace sawtooth::sim
