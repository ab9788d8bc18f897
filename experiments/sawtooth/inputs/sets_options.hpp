// The options of the L2 model `sets` (l2-ways, l2-line-bytes, l2-hash, l2-hash-matrix, l2-policy,
// l2-set-aside, and hints as priorities), from settings to sim::SetsParameters.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/settings.hpp"
#include "sim/gpu_profile.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

struct HashName {
  std::string_view name;
  std::string_view description;
  sim::HashKind hash;
};
inline constexpr auto l2_hashes = std::to_array<HashName>({
    {"balanced", "any number of sets; each run of neighbouring lines fills all sets evenly",
     sim::HashKind::balanced},
    {"xor", "a power of two of sets; the line number folded, or the matrix of l2-hash-matrix",
     sim::HashKind::exclusive_or},
    {"modulo", "line number modulo the number of sets", sim::HashKind::modulo},
});

struct PolicyName {
  std::string_view name;
  std::string_view description;
  sim::SetPolicy policy;
};
inline constexpr auto l2_policies = std::to_array<PolicyName>({
    {"lru", "the least recently used line leaves", sim::SetPolicy::lru},
    {"plru", "tree of bits that point away from the last use; ways a power of two",
     sim::SetPolicy::plru},
    {"fifo", "the line that came first leaves", sim::SetPolicy::fifo},
    {"random", "any line leaves (seed)", sim::SetPolicy::random},
    {"opt", "the line that is needed last leaves: the bound of all policies", sim::SetPolicy::opt},
});

/// Whether `key` is an option of `sets` alone.
bool is_sets_key(std::string_view key);

/// With l2 = sets, completes `settings` from the GPU's profile (16 ways and 128-byte lines where it
/// says nothing), fills request.sets and checks it against request.l2_bytes. With another model,
/// removes the keys of `sets`. Throws UsageError that names key, place and what is allowed.
void resolve_sets(Settings& settings, const sim::GpuProfile& gpu, sim::Request& request);

}  // namespace sawtooth::experiments
