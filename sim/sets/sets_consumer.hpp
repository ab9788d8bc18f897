// Visits on sets: gathered into batches, fed to the engine, counted by tensor and access.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/schedule/access_tally.hpp"
#include "sim/sets/set_engine.hpp"

namespace sawtooth::sim {

/// The classes of sets that atoms with these lines have under `parameters`.
inline SetPartition set_partition(std::span<const LineSpan> atoms, const SetGeometry& geometry,
                                  const SetsParameters& parameters) {
  std::string why_by_lines;
  if (parameters.by_lines) {
    why_by_lines = "it was asked for";
  } else if (parameters.policy == SetPolicy::random) {
    why_by_lines = "every set draws random victims of its own";
  }
  return SetPartition(atoms, SetHash(parameters, geometry.sets), geometry.line_bytes,
                      !why_by_lines.empty(), why_by_lines);
}

/// `Atoms` is AtomTable, or has its size(), sizes() and tensor_of().
template <class Atoms>
class SetsConsumer {
 public:
  /// `atoms` and `partition` must outlive this.
  SetsConsumer(const Atoms& atoms, const SetPartition& partition, const SetGeometry& geometry,
               const SetsParameters& parameters)
      : partition_(partition),
        engine_(make_set_engine(partition, geometry, parameters, priorities_of(atoms, parameters))),
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
    missed_.resize(waiting_.size());
    engine_->visit(waiting_, missed_);
    for (size_t i = 0; i < waiting_.size(); ++i)
      tally_.missed(waiting_[i], accesses_[i], missed_[i]);
    waiting_.clear();
    accesses_.clear();
  }

  const AccessTally<Atoms>& tally() const { return tally_; }

 private:
  static constexpr size_t batch_visits = 1024;  // keeps a batch and its results in the L1 cache

  static std::vector<Priority> priorities_of(const Atoms& atoms, const SetsParameters& parameters) {
    const auto& of_tensor = parameters.priorities;
    const bool all_normal = std::all_of(of_tensor.begin(), of_tensor.end(), [](Priority priority) {
      return priority == Priority::normal;
    });
    std::vector<Priority> priorities;
    if (all_normal) return priorities;
    for (size_t a = 0; a < atoms.sizes().size(); ++a) {
      const Tensor tensor = atoms.tensor_of(static_cast<AtomId>(a));
      priorities.push_back(of_tensor[static_cast<size_t>(tensor)]);
    }
    return priorities;
  }

  const SetPartition& partition_;
  std::unique_ptr<SetEngine> engine_;
  AccessTally<Atoms> tally_;
  std::vector<AtomId> waiting_;
  std::vector<Access> accesses_;
  std::vector<uint32_t> missed_;
};

}  // namespace sawtooth::sim
