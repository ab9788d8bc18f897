// What a set-associative L2 is made of: the geometry, the hash from lines to sets, the replacement
// policy of a set, and the priority of each tensor.
//
// Priorities are those of PTX (cache eviction priority hints: evict_first, evict_normal,
// evict_last). Lines of evict_last live in a set-aside of L2, at most 3/4 of it, and the others use
// what of it is free (CUDA C++ Programming Guide, "L2 Cache Control").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/atoms.hpp"

namespace sawtooth::sim {

enum class HashKind : uint8_t { modulo, exclusive_or, balanced };
enum class Priority : uint8_t { evict_first, normal, evict_last };

/// Replacement in a set: a policy is named here and written in sim/sets/policy_sets.hpp (opt, which
/// looks back instead of choosing, in sim/sets/set_engine.cpp).
enum class SetPolicy : uint8_t { lru, plru, fifo, random, opt };
struct PolicyName {
  std::string_view name;
  std::string_view description;
  SetPolicy policy;
};
inline constexpr auto set_policies = std::to_array<PolicyName>({
    {"lru", "the least recently used line leaves", SetPolicy::lru},
    {"plru", "tree of bits that point away from the last use; ways a power of two",
     SetPolicy::plru},
    {"fifo", "the line that came first leaves", SetPolicy::fifo},
    {"random", "any line leaves (seed)", SetPolicy::random},
    {"opt", "the line that is needed last leaves: the bound of all policies", SetPolicy::opt},
});

/// The most of L2 that may be set aside for evict_last, where a GPU does not say it:
/// cudaDeviceProp::persistingL2CacheMaxSize of sm_80 to sm_100 is three quarters of l2CacheSize.
inline constexpr int64_t usual_set_aside_eighths = 6;

struct SetsParameters {
  int64_t ways = 16;
  int64_t line_bytes = 128;
  HashKind hash = HashKind::balanced;
  /// Rows of a GF(2) matrix, the lowest set bit first: bit i of the set is the parity of the line
  /// number's bits that are set in row i. Empty: exclusive_or folds the line number.
  std::vector<uint64_t> matrix;
  SetPolicy policy = SetPolicy::lru;
  std::array<Priority, tensor_count> priorities = [] {
    std::array<Priority, tensor_count> all{};
    all.fill(Priority::normal);
    return all;
  }();
  std::optional<int64_t> set_aside_bytes;  // of evict_last; left out: the most there may be
  int64_t set_aside_eighths = usual_set_aside_eighths;  // of L2, the most there may be
  uint64_t seed = 0;                                    // of random replacement
  bool by_lines = false;  // for tests: every line by itself instead of sets that see the same
};

struct SetGeometry {
  int64_t sets = 0;
  int64_t ways = 0;
  int64_t line_bytes = 0;
  int64_t persisting_ways = 0;  // of a set, at most, held by evict_last
};

/// The geometry of `l2_bytes`. Throws std::invalid_argument that names the option (l2-bytes,
/// l2-ways, l2-line-bytes, l2-hash, l2-hash-matrix, l2-policy, l2-set-aside), what is wrong and
/// what is allowed.
SetGeometry set_geometry(int64_t l2_bytes, const SetsParameters& parameters);

}  // namespace sawtooth::sim
