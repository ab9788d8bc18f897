// Traces as people write them: each letter is a line, the answer a letter each, H or M.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/sets/partition.hpp"

namespace sawtooth::tests {

inline constexpr uint32_t letters = 128;  // ASCII

/// One line an atom: line `c` for the letter with code c, in a cache of `sets` sets of
/// `parameters.ways` ways. Small letters are evict_first, digits evict_last, when
/// `with_priorities`.
inline std::string hits_and_misses(std::string_view trace, int64_t sets,
                                   const sim::SetsParameters& parameters,
                                   bool with_priorities = false) {
  std::vector<sim::LineSpan> spans;
  std::vector<sim::Priority> priorities;
  for (uint32_t letter = 0; letter < letters; ++letter) {
    spans.push_back({letter, 1, 4});
    priorities.push_back(letter >= 'a' && letter <= 'z'   ? sim::Priority::evict_first
                         : letter >= '0' && letter <= '9' ? sim::Priority::evict_last
                                                          : sim::Priority::normal);
  }
  const sim::SetGeometry geometry =
      sim::set_geometry(sets * parameters.ways * parameters.line_bytes, parameters);
  const sim::SetPartition partition(spans, sim::SetHash(parameters, sets), parameters.line_bytes,
                                    false, "");
  const std::vector<sim::AtomId> visits(trace.begin(), trace.end());
  const auto engine = sim::make_set_engine(partition, geometry, parameters,
                                           with_priorities ? &priorities : nullptr);
  std::vector<uint32_t> missed(visits.size());
  engine->visit(visits, missed);
  std::string answer;
  for (const uint32_t sectors : missed) answer += sectors > 0 ? 'M' : 'H';
  return answer;
}

/// The same in one set of `ways`.
inline std::string in_one_set(std::string_view trace, int64_t ways, sim::SetPolicy policy) {
  sim::SetsParameters parameters;
  parameters.ways = ways;
  parameters.policy = policy;
  return hits_and_misses(trace, 1, parameters);
}

}  // namespace sawtooth::tests
