#include "sim/sets/set_engine.hpp"

#include <utility>

#include "sim/sets/opt_sets.hpp"
#include "sim/sets/policy_sets.hpp"
#include "sim/sets/recency_sets.hpp"

namespace sawtooth::sim {

std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities) {
  const auto ways = static_cast<uint32_t>(geometry.ways);
  if (parameters.policy == SetPolicy::opt) return std::make_unique<OptSets>(partition, ways);
  const bool lru = parameters.policy == SetPolicy::lru;
  if (priorities == nullptr && (lru || parameters.policy == SetPolicy::fifo)) {
    return std::make_unique<RecencySets>(partition, ways, lru, parameters.path);
  }
  return with_policy(parameters.policy, partition.classes(), ways, parameters.seed,
                     [&](auto policy) -> std::unique_ptr<SetEngine> {
                       return std::make_unique<PolicySets<decltype(policy)>>(
                           partition, geometry, std::move(policy), priorities);
                     });
}

}  // namespace sawtooth::sim
