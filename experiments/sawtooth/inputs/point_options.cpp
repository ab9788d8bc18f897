// Options that are keys of points: those that every point has, and those of the features.
#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "kernels/attention/variant_list.hpp"

namespace sawtooth::experiments {

template <>
inline const ValueNames<Tiles> names_of<Tiles>{{"64x64", Tiles::of_64},
                                               {"kernel", Tiles::of_the_kernel}};
template <>
inline const ValueNames<HeadOrder> names_of<HeadOrder>{{"batch-major", HeadOrder::batch_major},
                                                       {"head-major", HeadOrder::head_major}};
template <>
inline const ValueNames<Loop> names_of<Loop>{{"kv-inner", Loop::kv_inner},
                                             {"kv-outer", Loop::kv_outer}};
template <>
inline const ValueNames<L2Content> names_of<L2Content>{
    {"cold", L2Content::cold}, {"warm", L2Content::warm}, {"as-is", L2Content::as_is}};
template <>
inline const auto names_of<QOrderId> = names_of_policies<QOrderId, QOrders>();
template <>
inline const auto names_of<LaunchId> = names_of_policies<LaunchId, Launches>();
template <>
inline const auto names_of<ScanId> = names_of_policies<ScanId, Scans>();
template <>
inline const auto names_of<sim::Timing> = names_from<sim::Timing>(timing_models,
                                                                  &TimingModel::timing);
template <>
inline const auto names_of<const L2Model*> = [] {
  ValueNames<const L2Model*> names;
  for (const L2Model& model : l2_models) names.emplace_back(model.name, &model);
  return names;
}();
template <>
inline const auto names_of<sim::MechanismSet> = [] {
  ValueNames<sim::MechanismSet> names{{without_nothing, {}}};
  for (const auto& entry : sim::mechanism_names)
    names.emplace_back(entry.name, sim::MechanismSet{static_cast<uint32_t>(entry.mechanism)});
  return names;
}();

namespace {

using enum OptionGroup;
using enum OptionKind;

template <auto member>
constexpr KeyField of = field_of<Keys, member>();

/// An order from a file has no other name than that file's.
constexpr KeyField order_field = [] {
  KeyField made = of<&Keys::q_order>;
  made.print = [](const Keys& keys) {
    return keys.order_file.empty() ? value_text(keys.q_order) : "file:" + keys.order_file;
  };
  return made;
}();

const std::vector<OptionSpec> rows_of_every_point{
    {"batch", problem, count, of<&Keys::batch>, sweep_commands, "1", "sequences", 1, most_small},
    {"heads", problem, count, of<&Keys::heads>, sweep_commands, "1", "query heads", 1, most_small},
    {"kv-heads", problem, count, of<&Keys::kv_heads>, sweep_commands, "",
     "K/V heads, a divisor of heads (default: heads; fewer is GQA, 1 is MQA)", 1, most_small},
    {"seq", problem, count, of<&Keys::seq>, sweep_commands, "",
     "length of queries and of keys, sets both", 1, most_keys},
    {"seq-q", problem, count, of<&Keys::seq_q>, sweep_commands, "",
     "length of queries (default: seq)", 1, most_keys},
    {"seq-kv", problem, count, of<&Keys::seq_kv>, sweep_commands, "",
     "length of keys (default: seq)", 1, most_keys},
    {"head-dim", problem, widths, of<&Keys::head_dim>, sweep_commands, "64",
     "elements of a row; 192/128: of Q and K, and of V and O", 1, most_head_dim},
    {"dtype", problem, choice, of<&Keys::dtype>, sweep_commands, "bf16", "element type"},
    {"mask", problem, mask, of<&Keys::mask>, sweep_commands, "none", "which keys a query sees", 1,
     most_keys},

    {"tile-q", schedule, count, of<&Keys::tile_q>, sweep_commands, "64", "rows of a Q tile", 1,
     most_rows_of_a_tile},
    {"tile-kv", schedule, count, of<&Keys::tile_kv>, sweep_commands, "64", "rows of a K/V tile", 1,
     most_rows_of_a_tile},
    {"tiles", schedule, choice, of<&Keys::tiles>, sweep_commands, automatic,
     "where neither tile is given: 64x64, or that of the kernel for this head dim and gpu; auto: "
     "the kernel's in measure, bench and run, and on a gpu where kernels were measured",
     1, 1, names_or_auto<Tiles>},
    {"section", schedule, section, of<&Keys::section>, sweep_commands, "1",
     "heads that are walked together, head fastest; auto:BYTES takes as many as their K/V fit "
     "(backward: Q, dO and dQ); part: one after another, whole heads for each private part of L2"},
    {"q-order", schedule, choice, order_field, sweep_commands, "ascending",
     "tiles of a head that are items, in time"},
    {"head-order", schedule, choice, of<&Keys::head_order>, sweep_commands, "batch-major",
     "how heads are numbered"},
    {"order-file", schedule, path, of<&Keys::order_file>, sweep_commands, "",
     "items one a line, \"batch head q_tile [part]\"; replaces section, q-order and head-order"},
    {"launch", schedule, choice, of<&Keys::launch>, sweep_commands, "static",
     "how items reach workers"},
    {"workers", schedule, count, of<&Keys::workers>, sweep_commands, "",
     "CTAs in flight together (default: SMs of the gpu x ctas-per-sm)", 1, most_small},
    {"ctas-per-sm", schedule, count, of<&Keys::ctas_per_sm>, sweep_commands, "1",
     "CTAs that share an SM", 1, most_ctas_per_sm},
    {"scan", schedule, choice, of<&Keys::scan>, sweep_commands, "linear",
     "order of the tiles that an item scans"},
    {"loop", schedule, choice, of<&Keys::loop>, sweep_commands, "kv-inner",
     "kv-outer: an item is a head, its Q tiles run inside the K/V loop (FlashAttention-1)"},
    {"prefetch", schedule, count, of<&Keys::prefetch>, sweep_commands, "0",
     "steps that the wave prefetch runs ahead, 0 is off", 0, most_small},
    {"lse", schedule, on_off, of<&Keys::lse>, sweep_commands, "off",
     "also write the log-sum-exp of every row"},

    {"gpu", where, name, of<&Keys::gpu>, sweep_commands | command_calibrate, "",
     "profile, see `sawtooth gpus`; or a path to one"},
    {"system", where, name, of<&Keys::system>, sweep_commands, "",
     "known system, see `sawtooth systems`; gives defaults to all other keys"},
    {"state", where, choice, of<&Keys::state>, sweep_commands, "cold",
     "what L2 holds before the launch; simulate and bench know cold and as-is only"},
    {"kernel", where, choice, of<&Keys::kernel>, sweep_commands, "",
     "family of the kernel to run (default: the first of this build that has the tile); unknown: "
     "simulate's intervals hold what kernels of any kind do",
     1, 1,
     [] {
       Names names(kernels::family_names.begin(), kernels::family_names.end());
       names.emplace_back(unknown_kernel);
       return names;
     }},

    {"timing", model, choice, of<&Keys::timing>, sweep_commands, automatic,
     "how workers go on in time; auto: as the model that was judged best on the gpu", 1, 1,
     names_or_auto<sim::Timing>},
    {"l2", model, choice, of<&Keys::l2>, sweep_commands, automatic,
     "model of the L2 cache; auto: likewise", 1, 1, names_or_auto<const L2Model*>},
    {"without", model, choice, of<&Keys::without>, sweep_commands, "nothing",
     "a mechanism of timing = timed that is switched off"},
    {"exact", model, toggle, of<&Keys::exact>, sweep_commands, "off",
     "timing = timed: replay all of many heads that are alike (without = repeats)"},
    {"kernel-costs", model, path, of<&Keys::kernel_costs>, sweep_commands, "",
     "timing = timed: file of the kernel's costs, as `sawtooth teach` writes it (default: those of "
     "kernels/mma)"},
    {"step-ns", model, count, of<&Keys::step_ns>, sweep_commands, "",
     "timing = timed: what a K/V tile step keeps an SM's pipes busy, in nanoseconds (default: as "
     "kernels/mma)",
     1, most_ns},
    {"step-exposed-ns", model, count, of<&Keys::step_exposed_ns>, sweep_commands, "",
     "timing = timed: what a step of a lone CTA takes beyond that (default: as kernels/mma)", 0,
     most_ns},
    {"stages", model, count, of<&Keys::stages>, sweep_commands, "",
     "timing = timed: K/V tiles in shared memory, that of the step included (default: 2)", 1, 8},
    {"spill-bytes", model, bytes, of<&Keys::spill_bytes>, sweep_commands, "",
     "timing = timed: bytes of L2 that a CTA's spilled registers take (default: none)", 1,
     int64_t{1} << 30},
    {"age-bias", model, share, of<&Keys::age_bias>, sweep_commands, "",
     "timing = timed: how much the oldest CTA of an SM is preferred, as a share of the "
     "exponentials' "
     "part of a step (default: as kernels/mma)"},
    {"l2-bytes", model, bytes, of<&Keys::l2_bytes>, sweep_commands, "",
     "capacity of L2 (default: the gpu's)", 1, int64_t{1} << 50},
    {"launches", model, count, of<&Keys::launches>, command_simulate, "1",
     "launches of timing = timed, each with random samples of its own; the row is the one with the "
     "median of DRAM reads",
     1, most_launches},
    {"seed", model, seed, of<&Keys::seed>, sweep_commands, "0",
     "of the random scan, of l2-policy = random, of what is random in timing = timed"},
};

}  // namespace

std::vector<OptionSpec> point_options() {
  std::vector<OptionSpec> rows = rows_of_every_point;
  std::vector<OptionBlock> waiting;
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::template options<Keys>(); })
      for (OptionBlock& block : Feature::template options<Keys>())
        waiting.push_back(std::move(block));
  });
  // A block may stand behind a key of another feature.
  while (!waiting.empty()) {
    const auto known = std::ranges::find_if(waiting, [&](const OptionBlock& block) {
      return std::ranges::find(rows, block.behind, &OptionSpec::key) != rows.end();
    });
    if (known == waiting.end()) throw std::logic_error("no option to stand behind");
    const auto place = std::ranges::find(rows, known->behind, &OptionSpec::key) + 1;
    rows.insert(place, known->rows.begin(), known->rows.end());
    waiting.erase(known);
  }
  return rows;
}

std::span<const OptionSpec> option_table() {
  static const std::vector<OptionSpec> table = [] {
    std::vector<OptionSpec> rows = point_options();
    rows.insert(rows.end(), output_options().begin(), output_options().end());
    return rows;
  }();
  return table;
}

std::vector<std::string_view> option_names(CommandSet commands) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : option_table())
    if ((option.commands & commands) != 0) names.push_back(option.key);
  return names;
}

std::string_view key_of_name(std::string_view name) {
  for (const OptionAlias& alias : option_aliases)
    if (alias.name == name) return alias.key;
  return name;
}

const OptionSpec* find_option(std::string_view key) {
  const auto found = std::ranges::find(option_table(), key, &OptionSpec::key);
  return found == option_table().end() ? nullptr : &*found;
}

}  // namespace sawtooth::experiments
