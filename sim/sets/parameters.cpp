#include "sim/sets/parameters.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "scheduler/memory_units.hpp"
#include "sim/sets/set_hash.hpp"

namespace sawtooth::sim {
namespace {

void require(bool good, const std::string& message) {
  if (!good) throw std::invalid_argument(message);
}

bool is_power_of_two(int64_t value) {
  return std::has_single_bit(static_cast<uint64_t>(value));
}

}  // namespace

SetGeometry set_geometry(int64_t l2_bytes, const SetsParameters& p) {
  const auto text = [](int64_t value) { return std::to_string(value); };
  require(p.line_bytes == 32 || p.line_bytes == 64 || p.line_bytes == line_bytes,
          "l2-line-bytes: " + text(p.line_bytes) +
              " is not allowed; allowed: 32, 64 or 128 (tiles are whole lines of 128 bytes)");
  require(p.ways >= 1, "l2-ways: " + text(p.ways) + " is not allowed; allowed: 1 or more");
  const int64_t way_bytes = p.ways * p.line_bytes;
  require(l2_bytes > 0 && l2_bytes % way_bytes == 0,
          "l2-bytes: " + text(l2_bytes) + " is no whole number of sets of " + text(p.ways) +
              " lines of " + text(p.line_bytes) + " bytes; allowed: multiples of " +
              text(way_bytes));
  SetGeometry geometry{l2_bytes / way_bytes, p.ways, p.line_bytes, 0};
  require(geometry.sets <= std::numeric_limits<int32_t>::max(),
          "l2-bytes: " + text(geometry.sets) + " sets; allowed: fewer than 2^31");
  if (p.hash == HashKind::exclusive_or)
    require(is_power_of_two(geometry.sets),
            "l2-hash: xor needs a power of two of sets, and l2-bytes / (l2-ways x l2-line-bytes) "
            "is " +
                text(geometry.sets) +
                "; allowed: balanced, modulo, or another l2-bytes or l2-ways");
  if (!p.matrix.empty()) check_matrix(p.matrix, geometry.sets);
  require(p.policy != SetPolicy::plru || is_power_of_two(p.ways),
          "l2-ways: " + text(p.ways) +
              " leaves the tree of l2-policy = plru ragged; allowed: a power of two");
  const int64_t most = l2_bytes / 8 * p.set_aside_eighths;
  const int64_t set_aside = p.set_aside_bytes.value_or(most);
  require(set_aside >= 0 && set_aside <= most,
          "l2-set-aside: " + text(set_aside) + " is not allowed; allowed: up to " +
              text(p.set_aside_eighths) + "/8 of l2-bytes, " + text(most));
  geometry.persisting_ways = set_aside / (geometry.sets * p.line_bytes);
  return geometry;
}

}  // namespace sawtooth::sim
