// The table of options. Every row is a configuration key and a command-line option at once:
// what it means, what kind of value it takes, its default, and which commands read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

/// Commands that read an option, one bit each.
using CommandSet = unsigned;
inline constexpr CommandSet command_simulate = 1u << 0;
inline constexpr CommandSet command_compare = 1u << 1;
inline constexpr CommandSet command_counters = 1u << 8;
inline constexpr CommandSet command_calibrate = 1u << 9;
inline constexpr CommandSet command_measure = 1u << 10;
inline constexpr CommandSet command_bench = 1u << 11;
inline constexpr CommandSet command_schedules = 1u << 12;
inline constexpr CommandSet command_trace = 1u << 13;
inline constexpr CommandSet command_search = 1u << 14;
inline constexpr CommandSet command_ring = 1u << 15;
inline constexpr CommandSet command_merge = 1u << 20;
inline constexpr CommandSet command_slurm = 1u << 21;

enum class OptionGroup { problem, schedule, where, model, output };

enum class OptionKind {
  widths,      // a count, or two with two_widths_mark between
  count,       // whole number in [low, high]; K, M and G mean 1024, 1024^2 and 1024^3
  parts,       // a count, or auto
  bytes,       // count of bytes, or a number with KiB, MiB or GiB
  share,       // a number above 0 and up to 1, or a percentage
  seed,        // whole number in [0, 2^63)
  choice,      // one of `choices`
  on_off,      // on or off
  toggle,      // like on_off; on the command line the bare option means on
  mask,        // none, causal, window:W, lists of tiles
  section,     // a count of heads, all, part, auto:BYTES
  part,        // one of so many, from 0 on, or all
  lengths,     // one a sequence: a list, a file of them, or a distribution
  page_table,  // identity, shuffle:SEED or file:PATH
  name,        // a known name, or a path with a '/' or an ending ".ini"
  path,        // a file
  tolerance,   // a fraction or a percentage, or a list of COUNTER=fraction
  text,        // anything on one line
};

/// Names that a choice allows, in their order.
using Names = std::vector<std::string_view>;

/// What a key says that leaves its value to resolve().
inline constexpr std::string_view automatic = "auto";
/// Between the head dim of Q and K and that of V and O.
inline constexpr char two_widths_mark = '/';
/// The value of a key of kind `part` that stands for all of them.
inline constexpr std::string_view all_parts = "all";

struct Keys;  // keys.hpp

/// How the key of a point is read from its canonical text and printed again.
struct KeyField {
  void (*read)(std::string_view text, Keys& keys) = nullptr;
  std::string (*print)(const Keys& keys) = nullptr;  // empty for a key without a value
  Names (*choices)() = nullptr;
  /// What a key asks of others: without it, it has no effect, and may not be given.
  std::string_view needs = {};
  bool (*met)(const Keys& keys) = nullptr;
};

struct OptionSpec {
  std::string_view key;
  OptionGroup group{};
  OptionKind kind{};
  KeyField field{};  // of a key of points; output options have none
  CommandSet commands{};
  std::string_view default_text;  // empty: the description says what happens without it
  std::string_view description;
  int64_t low = 1;  // of a count
  int64_t high = 1;
  Names (*choices)() = nullptr;

  /// A choice allows these names.
  Names allowed() const { return choices != nullptr ? choices() : field.choices(); }
  /// Several values of this key make an axis of a sweep.
  constexpr bool is_axis() const {
    return group != OptionGroup::output && kind != OptionKind::path;
  }
};

/// All options in the order of the help, which is also the order of a sweep's axes: the first
/// option of the table varies slowest.
std::span<const OptionSpec> option_table();

/// The keys of those that one of `commands` reads.
std::vector<std::string_view> option_names(CommandSet commands = ~0u);

/// Another name of an option, for who writes it.
struct OptionAlias {
  std::string_view name;
  std::string_view key;
};
inline constexpr OptionAlias option_aliases[] = {{"item-order", "q-order"}, {"ranks", "ring"}};

/// The key of the option that `name` may be an alias of.
std::string_view key_of_name(std::string_view name);

/// The option called `key`, or null.
const OptionSpec* find_option(std::string_view key);

// The two parts of the table, and what their rows share.

/// Keys of points: the problem, the schedule, where it runs and the model.
std::vector<OptionSpec> point_options();
/// What commands write and how they go about it.
std::span<const OptionSpec> output_options();

// A tile or a section beyond these bounds is a typing error rather than an experiment.
inline constexpr int64_t most_rows_of_a_tile = int64_t{1} << 20;
inline constexpr int64_t most_small = int64_t{1} << 20;
inline constexpr int64_t most_keys = int64_t{1} << 40;
inline constexpr int64_t most_head_dim = 4096;
// CUDA C++ Programming Guide, "Technical Specifications".
inline constexpr int64_t most_ctas_per_sm = 32;
inline constexpr int64_t most_ring_ranks = 1024;
inline constexpr int64_t most_threads = 4096;
inline constexpr int64_t most_atoms = int64_t{1} << 30;  // as many as the engine weighs
inline constexpr int64_t most_tasks = 4'000'000;  // as many as MaxArraySize of slurm.conf may say
inline constexpr int64_t most_ways = 4096;
inline constexpr int64_t most_launches = 999;
inline constexpr int64_t most_ns = 1'000'000'000;  // a second

inline constexpr CommandSet measure_commands = command_measure | command_bench;
inline constexpr CommandSet ring_commands = command_simulate | command_ring;
inline constexpr CommandSet sweep_commands =
    command_simulate | measure_commands | command_trace | command_search | command_ring;
inline constexpr CommandSet both_commands = sweep_commands | command_compare;
inline constexpr CommandSet predict_commands = command_simulate | command_trace;

// Options, their values and keys of profiles that earlier versions had: each is refused by its
// name, with what to use instead.

struct RemovedOption {
  std::string_view name;
  std::string_view instead;
};

inline constexpr std::string_view worth_nothing =
    "it moved no judged error by more than another seed does; leave it out";
inline constexpr RemovedOption removed_options[] = {
    {"age-bias-prefetch", worth_nothing},
    {"audit", "give a larger --budget, which decides more of what was pruned"},
    {"baselines",
     "give compare the predictions of simple rules, such as those of simulate --timing lockstep "
     "--l2 lru"},
    {"die", "speeds of SMs are drawn by seed; leave it out"},
    {"fabric-gb-per-s", "crossings take latency-far-ns; leave it out"},
    {"item-spread-ns", worth_nothing},
    {"jitter-by-age", worth_nothing},
    {"measure", "run bench and measure on the file of --best"},
    {"orders", "explicit orders were not better; leave it out"},
    {"paced", "time other programs between two calls of bench"},
    {"port-gb-per-s", "an SM's port has its share of l2-gb-per-s; leave it out"},
    {"prefetch-attach-ns", "prefetch-step-ns is the mean over scans"},
    {"prefetch-scan-ns", "prefetch-step-ns is the mean over scans"},
    {"sample", "every tile is followed; leave it out"},
    {"scalar-fp32", "use mma-fp32"},
};

/// The end of the message about an unknown option: ": was removed; ...", or empty.
inline std::string removal_of(std::string_view name) {
  for (const RemovedOption& option : removed_options)
    if (option.name == name) return "was removed; " + std::string(option.instead);
  return {};
}

}  // namespace sawtooth::experiments
