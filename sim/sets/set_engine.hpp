// What replays visits on the sets of a partition, one set of each class.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/sets/parameters.hpp"
#include "sim/sets/partition.hpp"

namespace sawtooth::sim {

class SetEngine {
 public:
  virtual ~SetEngine() = default;
  /// Visits atoms in this order; `missed_sectors[i]` becomes what visit i missed in all its sets.
  /// Both spans have one size. May be called again and again with what comes next.
  virtual void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) = 0;
  /// Sets held[part] of the parts of which lines are held. An engine that holds none, as it looks
  /// back, sets nothing.
  virtual void mark_held(std::span<uint8_t> held) const = 0;
  /// Parts of this atom, which are not held, stand for other lines from now on.
  virtual void forget(AtomId atom) = 0;
};

/// The engine of parameters.policy. `priorities`, which opt does not have, has one entry an atom,
/// or is null when all are normal. `partition`, which may place further atoms, and `priorities`
/// must outlive the engine.
std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities);

}  // namespace sawtooth::sim
