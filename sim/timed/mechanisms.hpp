// The mechanisms of the timed wavefront, each of which can be switched off to see what it is worth
// (`without` on the command line, docs/models/timed.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sawtooth::sim {

enum class Mechanism : uint32_t {
  stalls = 1u << 0,
  latency = 1u << 1,
  bandwidth = 1u << 2,
  merging = 1u << 3,
  sharing = 1u << 4,
  starts = 1u << 5,
  jitter = 1u << 6,
  sm_spread = 1u << 7,
  soft_edge = 1u << 8,
  item_cost = 1u << 9,
  prefetch_cost = 1u << 10,
  age_bias = 1u << 11,
  scattered_pages = 1u << 12,
  ticket_race = 1u << 13,
  early_write_back = 1u << 14,
  power = 1u << 15,
  repeats = 1u << 16,
};

struct MechanismName {
  std::string_view name;
  std::string_view description;
  Mechanism mechanism;
};

inline constexpr auto mechanism_names = std::to_array<MechanismName>({
    {"stalls", "a worker waits for data that is late", Mechanism::stalls},
    {"latency", "L2, fabric and DRAM take their time to answer", Mechanism::latency},
    {"bandwidth", "SM ports, L2, fabric and DRAM move so many bytes a second",
     Mechanism::bandwidth},
    {"merging", "the coalescer merges requests of neighbouring SMs", Mechanism::merging},
    {"sharing", "CTAs of one SM share its pipes", Mechanism::sharing},
    {"starts", "CTAs start one after another", Mechanism::starts},
    {"ticket-race", "SMs of the half that holds the ticket counter are nearer to it",
     Mechanism::ticket_race},
    {"jitter", "a step does not take the same time twice", Mechanism::jitter},
    {"sm-spread", "GPCs and the SMs of a TPC differ a little in speed", Mechanism::sm_spread},
    {"age-bias", "of the CTAs of an SM the oldest gets more than its share", Mechanism::age_bias},
    {"soft-edge", "L2 keeps lines in sets of ways, not in one block", Mechanism::soft_edge},
    {"scattered-pages", "tensors lie on pages of their own, which fill sets not quite evenly",
     Mechanism::scattered_pages},
    {"early-write-back", "a dirty line is written back before it leaves its set",
     Mechanism::early_write_back},
    {"item-cost", "beginning and ending an item take time", Mechanism::item_cost},
    {"prefetch-cost", "issuing prefetches takes time", Mechanism::prefetch_cost},
    {"power", "the clock falls where a kernel, or DRAM with it, draws too much", Mechanism::power},
    {"repeats", "some of many heads that are alike stand for all", Mechanism::repeats},
});

/// A set of mechanisms that are switched off.
struct MechanismSet {
  uint32_t bits = 0;
  constexpr bool has(Mechanism m) const { return (bits & static_cast<uint32_t>(m)) != 0; }
  constexpr void add(Mechanism m) { bits |= static_cast<uint32_t>(m); }
  friend constexpr bool operator==(MechanismSet, MechanismSet) = default;
};

inline constexpr MechanismSet no_repeats{static_cast<uint32_t>(Mechanism::repeats)};

}  // namespace sawtooth::sim
