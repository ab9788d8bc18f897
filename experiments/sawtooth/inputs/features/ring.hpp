// Ring attention: GPUs that share a sequence.
#pragma once

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "scheduler/ring.hpp"

namespace sawtooth::experiments {

/// What moves K and V from GPU to GPU.
enum class RingMover : uint8_t { copy, nccl };

template <>
inline const ValueNames<RingLayout> names_of<RingLayout>{{"zigzag", RingLayout::zigzag},
                                                         {"plain", RingLayout::plain}};
template <>
inline const ValueNames<RingMover> names_of<RingMover>{{"copy", RingMover::copy},
                                                       {"nccl", RingMover::nccl}};

struct RingKeys {
  std::optional<int64_t> ring;  // GPUs
  RingLayout ring_order{};
  RingMover ring_mover{};
  std::optional<int64_t> ring_rank, ring_step;  // empty: all of them

  struct Needed {
    static constexpr std::string_view what = "ring";
    static bool met(const RingKeys& keys) { return keys.ring.has_value(); }
  };

  // A rank, or a step: without a value all of them.
  template <class Keys, auto member>
  static constexpr KeyField part_field() {
    KeyField made = field_with<Keys, member, Needed>();
    made.read = [](std::string_view text, Keys& keys) {
      (keys.*member).reset();
      if (text != all_parts) read_value(text, (keys.*member).emplace());
    };
    made.print = [](const Keys& keys) {
      const std::string part = keys.ring ? value_text(keys.*member) : std::string();
      return keys.ring && part.empty() ? std::string(all_parts) : part;
    };
    return made;
  }

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    using enum OptionKind;
    return {
        {"pass",
         {{"ring", problem, count, field_of<Keys, &Keys::ring>(), ring_commands, "",
           "GPUs that share the sequence by ring attention: each keeps its rows of Q and meets the "
           "K and V of one GPU a step (default: one GPU, no ring)",
           1, most_ring_ranks},
          {"ring-order", problem, choice, field_with<Keys, &Keys::ring_order, Needed>(),
           ring_commands, "zigzag",
           "with ring: which rows a GPU has; zigzag: chunks r and 2N-1-r of 2N, plain: the r-th of "
           "N parts"},
          {"ring-rank", problem, part, part_field<Keys, &Keys::ring_rank>(), ring_commands, "",
           "with ring: the GPU of a row, or all: counts summed, the longest time (default, with "
           "ring-step: the whole ring, and each step of each GPU)",
           0, most_ring_ranks - 1},
          {"ring-step", problem, part, part_field<Keys, &Keys::ring_step>(), ring_commands, "",
           "with ring: the step of a row, or all (default: as ring-rank)", 0,
           most_ring_ranks - 1}}},
        {"state",
         {{"ring-mover", where, choice, field_with<Keys, &Keys::ring_mover, Needed>(),
           ring_commands, "copy",
           "with ring: what moves K and V, and gradients back: the copy engines, or NCCL, which "
           "takes SMs"}}}};
  }
  static constexpr auto columns = std::to_array<ResultColumn>({
      {"ring", ColumnKind::optional},
      {"ring_order", ColumnKind::optional},
      {"ring_mover", ColumnKind::optional},
      {"ring_rank", ColumnKind::optional},
      {"ring_step", ColumnKind::optional},
  });

  // The rows that each GPU has, and what no ring does.
  template <class Point>
  static void resolve_problem(const Layers& layers, Point& point) {
    const auto& keys = point.keys;
    if (!keys.ring) return;
    const Problem& problem = point.request.problem;
    const Ring& ring =
        point.ring.emplace(Ring{*keys.ring, keys.ring_order, problem.mask.kind, problem.seq_q});
    const auto refuse = [&](bool is_there, const char* key, const char* what) {
      if (is_there) layers.fail(key, what);
    };
    refuse(problem.mask.kind > MaskKind::causal, "mask", "a ring takes none or causal");
    refuse(problem.seq_q != problem.seq_kv, "ring", "takes as many queries as keys; allowed: seq");
    refuse(keys.head_shards.has_value(), "head-shards", "a ring takes none");
    refuse(keys.pack_gqa, "pack-gqa", "a ring packs no heads; allowed: off");
    refuse(keys.has_lengths(), keys.lengths.empty() ? "q-lengths" : "lengths",
           "a ring takes one length");
    refuse(keys.kv_split.shares || keys.kv_split.parts != 1, "kv-split", "a ring takes 1");
    refuse(keys.is_served(), "ring", "takes no shares, prefixes and pages");
    refuse(keys.loop != Loop::kv_inner, "loop", "a ring takes kv-inner");
    refuse(!keys.order_file.empty(), "order-file", "a ring takes none");
    refuse(keys.lse, "lse", "a ring keeps the log-sum-exp anyway; leave it out");
    refuse(keys.launches > 1, "launches", "takes no ring; allowed: 1");
    if (ring.seq % ring.chunks() != 0)
      layers.fail("ring", std::to_string(ring.seq) + " rows have no equal chunks; allowed: seq a " +
                              "multiple of " + std::to_string(ring.chunks()));
    for (const auto& [key, part] :
         {std::pair("ring-rank", keys.ring_rank), {"ring-step", keys.ring_step}})
      if (part && *part >= ring.ranks)
        layers.fail(key, std::to_string(*part) + " is not there; allowed: all, or below ring = " +
                             std::to_string(ring.ranks));
  }

  /// A ring without ring-rank and ring-step stands for the whole and for each step of each GPU.
  static std::vector<Settings> parts(const Settings& sweep) {
    const auto ring = sweep.find("ring");
    if (ring == sweep.end() || sweep.contains("ring-rank") || sweep.contains("ring-step"))
      return {sweep};
    std::vector<Settings> all;
    for (const std::string& ranks : ring->second.values) {
      Settings whole = sweep;
      whole["ring"].values = {ranks};
      all.push_back(whole);
      Assignment numbers{{}, ring->second.origin};
      for (int64_t number = 0; number < std::stoll(ranks); ++number)
        numbers.values.push_back(std::to_string(number));
      whole["ring-rank"] = whole["ring-step"] = numbers;
      all.push_back(std::move(whole));
    }
    return all;
  }

  bool in_use() const { return ring.has_value(); }
  static constexpr std::string_view judged_points = "ring";
};

}  // namespace sawtooth::experiments
