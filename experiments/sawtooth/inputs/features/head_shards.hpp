// Heads that several GPUs share: a row is what one of them computes, and what it sends.
#pragma once

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "scheduler/head_shards.hpp"

namespace sawtooth::experiments {

template <>
inline const ValueNames<Exchange> names_of<Exchange>{
    {"none", Exchange::none}, {"megatron", Exchange::megatron}, {"ulysses", Exchange::ulysses}};

struct HeadShardKeys {
  std::optional<int64_t> head_shards;  // GPUs
  Exchange exchange{};

  struct Needed {
    static constexpr std::string_view what = "head-shards";
    static bool met(const HeadShardKeys& keys) { return keys.head_shards.has_value(); }
  };

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {
        {"ring-step",
         {{"head-shards", problem, count, field_of<Keys, &Keys::head_shards>(), command_simulate,
           "", "GPUs that share the heads: the row is what one of them computes (default: one GPU)",
           1, most_small},
          {"exchange", problem, choice, field_with<Keys, &Keys::exchange, Needed>(),
           command_simulate, "none",
           "with head-shards: what crosses the link, by NCCL; megatron: an all-reduce behind "
           "the output projection, ulysses: Q, K, V and O all to all"}}}};
  }
  static constexpr auto columns = std::to_array<ResultColumn>(
      {{"head_shards", ColumnKind::optional}, {"exchange", ColumnKind::optional}});

  template <class Point>
  static void resolve_problem(const Layers& layers, Point& point) {
    if (!point.keys.head_shards) return;
    Problem& whole = point.request.problem;
    const int64_t gpus = *point.keys.head_shards, kv = whole.kv_heads;
    if (whole.heads % gpus != 0 || (kv % gpus != 0 && gpus % kv != 0))
      layers.fail("head-shards", std::to_string(gpus) +
                                     " GPUs have no equal heads; allowed: divisors "
                                     "of heads, and divisors or multiples of kv-heads");
    whole = HeadShards{gpus, point.keys.exchange}.of_one(whole);
  }
};

}  // namespace sawtooth::experiments
