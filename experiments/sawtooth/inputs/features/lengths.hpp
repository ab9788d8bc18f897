// Sequences of different lengths in one launch.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>

#include "experiments/sawtooth/inputs/features/feature.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "scheduler/sequences.hpp"

namespace sawtooth::experiments {

template <>
inline const auto names_of<SequenceOrderId> = names_of_policies<SequenceOrderId, SequenceOrders>();

/// What a request's `sequences` point to.
struct SequenceLists {
  std::vector<SequenceLengths> lengths;
  std::vector<int64_t> order;
  // Where the rows of each sequence begin if they are packed one after another, and where all end.
  std::vector<int64_t> first_q{0}, first_kv{0};
};

struct LengthsKeys {
  std::string lengths, q_lengths;  // canonical (sequence_lengths.hpp); empty: of one length
  SequenceOrderId sequence_order{};

  bool has_lengths() const { return !lengths.empty() || !q_lengths.empty(); }
  struct Needed {
    static constexpr std::string_view what = "lengths or q-lengths";
    static bool met(const LengthsKeys& keys) { return keys.has_lengths(); }
  };

  template <class Keys>
  static OptionBlocks options() {
    using enum OptionGroup;
    return {
        {"seq-kv",
         {{"lengths", problem, OptionKind::lengths, field_of<Keys, &Keys::lengths>(),
           sweep_commands, "",
           "length of keys of each sequence, such as 4K+8x1K or uniform:1K..64K:SEED; instead of "
           "seq-kv"},
          {"q-lengths", problem, OptionKind::lengths, field_of<Keys, &Keys::q_lengths>(),
           sweep_commands, "",
           "length of queries of each sequence; instead of seq-q (default: lengths)"}}},
        {"head-order",
         {{"sequence-order", schedule, OptionKind::choice,
           field_with<Keys, &Keys::sequence_order, Needed>(), sweep_commands, "given",
           "with lengths: in which order the batch walks its sequences"}}}};
  }
  static constexpr auto columns = std::to_array<ResultColumn>({
      {"lengths", ColumnKind::optional},
      {"q_lengths", ColumnKind::optional},
      {"sequence_order", ColumnKind::optional},
  });

  // Lists say how many sequences there are, and lengths which is the longest. Sequences without
  // lengths of their queries have as many as keys.
  static void complete_text(Layers& layers) {
    constexpr std::pair<const char*, const char*> keys[] = {{"lengths", "seq-kv"},
                                                            {"q-lengths", "seq-q"}};
    if (!layers.has("lengths") && !layers.has("q-lengths")) return;
    if (layers.has("lengths") && layers.has("seq"))
      layers.refuse("seq", "has no effect beside lengths; leave one out");
    if (!layers.has("q-lengths") && !layers.has("seq-q"))
      layers.set_if_missing("q-lengths", layers.text("lengths"));
    for (const auto& [key, longest] : keys) {
      const auto listed = layers.has(key) ? listed_sequences(layers.text(key)) : std::nullopt;
      if (!listed) continue;
      const std::string sequences = std::to_string(*listed);
      layers.set_if_missing("batch", sequences);
      if (layers.text("batch") != sequences)
        layers.refuse(key, "has " + sequences + " sequences, batch = " + layers.text("batch") +
                               "; the lists of both lengths and batch must agree");
    }
    layers.set_if_missing("batch", "1");
    for (const auto& [key, longest] : keys) {
      if (!layers.has(key)) continue;
      if (layers.has(longest))
        layers.refuse(longest, "has no effect beside " + std::string(key) + "; leave one out");
      const auto all = lengths_of(layers.text(key), std::stoll(layers.text("batch")));
      const int64_t most = *std::ranges::max_element(all);
      if (most == 0) layers.refuse(key, "all sequences are empty; allowed: one of 1 or more");
      layers.set_if_missing(longest, std::to_string(most));
    }
  }

  // The sequences of a batch, in rows of Q as they are packed.
  template <class Point>
  static void resolve_tiles(const Layers&, Point& point) {
    const auto& keys = point.keys;
    if (!keys.has_lengths()) return;
    auto& request = point.request;
    const auto lengths = [&](const std::string& text, int64_t otherwise) {
      const auto batch = static_cast<size_t>(keys.batch);
      return text.empty() ? std::vector<int64_t>(batch, otherwise) : lengths_of(text, keys.batch);
    };
    const std::vector<int64_t> q = lengths(keys.q_lengths, *keys.seq_q);
    const std::vector<int64_t> kv = lengths(keys.lengths, *keys.seq_kv);
    SequenceLists lists;
    for (size_t i = 0; i < q.size(); ++i) {
      lists.lengths.push_back({q[i] * request.tiling.rows_a_position, kv[i]});
      lists.first_q.push_back(lists.first_q.back() + q[i]);
      lists.first_kv.push_back(lists.first_kv.back() + kv[i]);
    }
    lists.order.resize(q.size());
    std::iota(lists.order.begin(), lists.order.end(), 0);
    SequenceOrders::dispatch(keys.sequence_order.index, [&](auto policy) {
      std::stable_sort(lists.order.begin(), lists.order.end(), [&](int64_t a, int64_t b) {
        return decltype(policy)::before(lists.lengths[static_cast<size_t>(a)],
                                        lists.lengths[static_cast<size_t>(b)]);
      });
      return 0;
    });
    point.sequences = std::make_shared<const SequenceLists>(std::move(lists));
    request.sequences = {point.sequences->lengths.data(),
                         keys.order_file.empty() ? point.sequences->order.data() : nullptr};
  }

  template <class Point>
  static void check_schedule(const Layers& layers, Point& point) {
    layers.fail_for(sim::sequences_fault(point.request));
  }

  bool in_use() const { return has_lengths(); }
  static constexpr std::string_view judged_points = "serving";
  static constexpr bool own_kernels = true;
};

}  // namespace sawtooth::experiments
