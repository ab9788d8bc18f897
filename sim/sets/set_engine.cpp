#include "sim/sets/set_engine.hpp"

#include <stdexcept>

#include "sim/sets/policies.hpp"
#include "sim/sets/policy_sets.hpp"
#include "sim/sets/recency_sets.hpp"

namespace sawtooth::sim {

std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           std::vector<Priority> priorities) {
  const auto with = [&](auto policy) -> std::unique_ptr<SetEngine> {
    return std::make_unique<PolicySets<decltype(policy)>>(partition, geometry, std::move(policy),
                                                          std::move(priorities));
  };
  const uint32_t classes = partition.classes();
  const auto ways = static_cast<uint32_t>(geometry.ways);
  const bool plain = priorities.empty();
  switch (parameters.policy) {
    case SetPolicy::lru:
      if (plain) return std::make_unique<RecencySets>(partition, ways, true, parameters.path);
      return with(LruPolicy(classes, ways));
    case SetPolicy::fifo:
      if (plain) return std::make_unique<RecencySets>(partition, ways, false, parameters.path);
      return with(FifoPolicy(classes, ways));
    case SetPolicy::plru:
      return with(TreePlruPolicy(classes, ways));
    case SetPolicy::random:
      return with(RandomPolicy(classes, parameters.seed));
    case SetPolicy::opt:
      break;
  }
  throw std::invalid_argument("set engine: opt needs all visits at once");
}

}  // namespace sawtooth::sim
