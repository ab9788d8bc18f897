#include "experiments/sawtooth/inputs/option_schema.hpp"

#include <array>
#include <string>

#include "experiments/sawtooth/inputs/key_text.hpp"
#include "experiments/sawtooth/inputs/page_table.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "kernels/attention/variant_list.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using enum OptionGroup;
using enum OptionKind;
using Names = std::vector<std::string_view>;

// A member of Keys as the table reads and prints it.
template <auto member>
constexpr KeyField field = [] {
  KeyField made{[](std::string_view text, Keys& keys) { read_value(text, keys.*member); },
                [](const Keys& keys) { return value_text(keys.*member); }};
  using Value =
      typename ValueOf<std::remove_cvref_t<decltype(std::declval<Keys&>().*member)>>::Type;
  if constexpr (HasNames<Value>) {
    made.choices = [] {
      Names names;
      for (const auto& [name, value] : value_names(static_cast<Value*>(nullptr)))
        names.push_back(name);
      return names;
    };
  }
  return made;
}();

// The values of a member's type, and `auto`, which leaves the member without one.
template <auto member>
Names names_or_auto() {
  Names names{automatic};
  for (const std::string_view name : field<member>.choices()) names.push_back(name);
  return names;
}

// What only a backward pass has is empty in another one's rows and configurations.
template <auto member>
constexpr KeyField backward_field = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.pass == Pass::backward ? value_text(keys.*member) : std::string();
  };
  return made;
}();

// What only a ring has.
template <auto member>
constexpr KeyField ring_field = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.ring ? value_text(keys.*member) : std::string();
  };
  return made;
}();

// What heads that several GPUs share send.
constexpr KeyField exchange_field = [] {
  KeyField made = field<&Keys::exchange>;
  made.print = [](const Keys& keys) {
    return keys.head_shards ? value_text(keys.exchange) : std::string();
  };
  return made;
}();

// A rank, or a step, of a ring: without a value all of them.
template <auto member>
constexpr KeyField ring_part_field{[](std::string_view text, Keys& keys) {
                                     (keys.*member).reset();
                                     if (text != all_parts)
                                       read_value(text, (keys.*member).emplace());
                                   },
                                   [](const Keys& keys) {
                                     if (!keys.ring) return std::string();
                                     return keys.*member ? value_text(*(keys.*member))
                                                         : std::string(all_parts);
                                   }};

// Sequences of one length have no order.
constexpr KeyField sequence_order_field = [] {
  KeyField made = field<&Keys::sequence_order>;
  made.print = [](const Keys& keys) {
    return keys.has_lengths() ? value_text(keys.sequence_order) : std::string();
  };
  return made;
}();

// Keys of shared prefixes and of pages are those of points that have them.
template <auto member, auto of>
constexpr KeyField field_where = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.*of > 0 ? value_text(keys.*member) : std::string();
  };
  return made;
}();

// An order from a file has no other name than that file's.
constexpr KeyField order_field = [] {
  KeyField made = field<&Keys::q_order>;
  made.print = [](const Keys& keys) {
    return keys.order_file.empty() ? value_text(keys.q_order) : "file:" + keys.order_file;
  };
  return made;
}();

// A tile or a section beyond these bounds is a typing error rather than an experiment.
constexpr int64_t most_rows_of_a_tile = int64_t{1} << 20;
constexpr int64_t most_small = int64_t{1} << 20;
constexpr int64_t most_keys = int64_t{1} << 40;
constexpr int64_t most_head_dim = 4096;
constexpr int64_t most_ctas_per_sm = 32;  // CUDA C++ Programming Guide, "Technical Specifications"
constexpr int64_t most_ring_ranks = 1024;
constexpr int64_t most_threads = 4096;
constexpr int64_t most_atoms = int64_t{1} << 30;  // as many as the engine weighs
constexpr int64_t most_tasks = 4'000'000;         // as many as MaxArraySize of slurm.conf may say
constexpr int64_t most_ways = 4096;
constexpr int64_t most_launches = 999;
constexpr int64_t most_ns = 1'000'000'000;  // a second

constexpr CommandSet measuring = command_measure | command_bench;
constexpr CommandSet rings = command_simulate | command_ring;
constexpr CommandSet sweeps =
    command_simulate | measuring | command_trace | command_search | command_ring;
constexpr CommandSet both = sweeps | command_compare;
constexpr CommandSet predicts = command_simulate | command_trace;

constexpr auto table = std::to_array<OptionSpec>({
    {"batch", problem, count, field<&Keys::batch>, sweeps, "1", "sequences", 1, most_small},
    {"heads", problem, count, field<&Keys::heads>, sweeps, "1", "query heads", 1, most_small},
    {"kv-heads", problem, count, field<&Keys::kv_heads>, sweeps, "",
     "K/V heads, a divisor of heads (default: heads; fewer is GQA, 1 is MQA)", 1, most_small},
    {"seq", problem, count, field<&Keys::seq>, sweeps, "",
     "length of queries and of keys, sets both", 1, most_keys},
    {"seq-q", problem, count, field<&Keys::seq_q>, sweeps, "", "length of queries (default: seq)",
     1, most_keys},
    {"seq-kv", problem, count, field<&Keys::seq_kv>, sweeps, "", "length of keys (default: seq)", 1,
     most_keys},
    {"lengths", problem, lengths, field<&Keys::lengths>, sweeps, "",
     "length of keys of each sequence, such as 4K+8x1K or uniform:1K..64K:SEED; instead of seq-kv"},
    {"q-lengths", problem, lengths, field<&Keys::q_lengths>, sweeps, "",
     "length of queries of each sequence; instead of seq-q (default: lengths)"},
    {"prefix", problem, count, field_where<&Keys::prefix, &Keys::prefix>, sweeps, "0",
     "first keys that the sequences of a group share in memory", 0, most_keys},
    {"prefix-group", problem, count, field_where<&Keys::prefix_group, &Keys::prefix>, sweeps, "",
     "with prefix: neighbouring sequences that share it (default: batch)", 1, most_small},
    {"page-rows", problem, count, field_where<&Keys::page_rows, &Keys::page_rows>, sweeps, "0",
     "keys of a page of K and V, 0: they are not paged", 0, most_rows_of_a_tile},
    {"page-table", problem, page_table, field_where<&Keys::page_table, &Keys::page_rows>, sweeps,
     "identity", "with page-rows: which page has which keys"},
    {"head-dim", problem, count, field<&Keys::head_dim>, sweeps, "64", "elements of a row", 1,
     most_head_dim},
    {"dtype", problem, choice, field<&Keys::dtype>, sweeps, "bf16", "element type"},
    {"mask", problem, mask, field<&Keys::mask>, sweeps, "none", "which keys a query sees"},
    {"pass", problem, choice, field<&Keys::pass>, sweeps, "forward",
     "backward: an item is a K/V tile of a K/V head and scans the Q tiles that see it"},
    {"ring", problem, count, field<&Keys::ring>, rings, "",
     "GPUs that share the sequence by ring attention: each keeps its rows of Q and meets the K and "
     "V of one GPU a step (default: one GPU, no ring)",
     1, most_ring_ranks},
    {"ring-order", problem, choice, ring_field<&Keys::ring_order>, rings, "zigzag",
     "with ring: which rows a GPU has; zigzag: chunks r and 2N-1-r of 2N, plain: the r-th of N "
     "parts"},
    {"ring-rank", problem, part, ring_part_field<&Keys::ring_rank>, rings, "",
     "with ring: the GPU of a row, or all: counts summed, the longest time (default, with "
     "ring-step: the whole ring, and each step of each GPU)",
     0, most_ring_ranks - 1},
    {"ring-step", problem, part, ring_part_field<&Keys::ring_step>, rings, "",
     "with ring: the step of a row, or all (default: as ring-rank)", 0, most_ring_ranks - 1},
    {"head-shards", problem, count, field<&Keys::head_shards>, command_simulate, "",
     "GPUs that share the heads: the row is what one of them computes (default: one GPU)", 1,
     most_small},
    {"exchange", problem, choice, exchange_field, command_simulate, "none",
     "with head-shards: what crosses the link, by NCCL; megatron: an all-reduce behind the output "
     "projection, ulysses: Q, K, V and O all to all"},

    {"tile-q", schedule, count, field<&Keys::tile_q>, sweeps, "64", "rows of a Q tile", 1,
     most_rows_of_a_tile},
    {"tile-kv", schedule, count, field<&Keys::tile_kv>, sweeps, "64", "rows of a K/V tile", 1,
     most_rows_of_a_tile},
    {"tiles", schedule, choice, field<&Keys::tiles>, sweeps, automatic,
     "where neither tile is given: 64x64, or that of the kernel for this head dim and gpu; auto: "
     "the kernel's in measure, bench and run, and on a gpu where kernels were measured",
     1, 1, names_or_auto<&Keys::tiles>},
    {"section", schedule, section, field<&Keys::section>, sweeps, "1",
     "heads that are walked together, head fastest; auto:BYTES takes as many as their K/V fit "
     "(backward: Q, dO and dQ)"},
    {"q-order", schedule, choice, order_field, sweeps, "ascending",
     "tiles of a head that are items, in time"},
    {"head-order", schedule, choice, field<&Keys::head_order>, sweeps, "batch-major",
     "how heads are numbered"},
    {"sequence-order", schedule, choice, sequence_order_field, sweeps, "given",
     "with lengths: in which order the batch walks its sequences"},
    {"order-file", schedule, path, field<&Keys::order_file>, sweeps, "",
     "items one a line, \"batch head q_tile [part]\"; replaces section, q-order and head-order"},
    {"launch", schedule, choice, field<&Keys::launch>, sweeps, "static", "how items reach workers"},
    {"workers", schedule, count, field<&Keys::workers>, sweeps, "",
     "CTAs in flight together (default: SMs of the gpu x ctas-per-sm)", 1, most_small},
    {"ctas-per-sm", schedule, count, field<&Keys::ctas_per_sm>, sweeps, "1",
     "CTAs that share an SM", 1, most_ctas_per_sm},
    {"scan", schedule, choice, field<&Keys::scan>, sweeps, "linear",
     "order of the tiles that an item scans"},
    {"loop", schedule, choice, field<&Keys::loop>, sweeps, "kv-inner",
     "kv-outer: an item is a head, its Q tiles run inside the K/V loop (FlashAttention-1)"},
    {"prefetch", schedule, count, field<&Keys::prefetch>, sweeps, "0",
     "steps that the wave prefetch runs ahead, 0 is off", 0, most_small},
    {"kv-split", schedule, parts, field<&Keys::kv_split>, sweeps, "1",
     "parts of the K/V range as items of their own; auto: equal shares of all K/V work, one a "
     "worker",
     1, most_small},
    {"cascade", schedule, on_off, field<&Keys::cascade>, sweeps, "off",
     "with prefix: its keys are scanned once for the queries of several sequences"},
    {"pack-gqa", schedule, on_off, field<&Keys::pack_gqa>, sweeps, "off",
     "the query heads of a group share the rows of one Q tile"},
    {"lse", schedule, on_off, field<&Keys::lse>, sweeps, "off",
     "also write the log-sum-exp of every row"},
    {"dq", schedule, choice, backward_field<&Keys::dq>, sweeps, "atomic",
     "backward: additions to dQ in any order or in that of the items, or a kernel of its own"},
    {"small-kernels", schedule, on_off, backward_field<&Keys::small_kernels>, sweeps, "off",
     "backward: also the kernels before (row sums of dO x O) and behind (dQ to its type)"},

    {"gpu", where, name, field<&Keys::gpu>, sweeps | command_calibrate, "",
     "profile, see `sawtooth gpus`; or a path to one"},
    {"die", where, path, field<&Keys::die>, sweeps, "",
     "timing = timed: facts of the one GPU that is meant, such as the speeds of its SMs (default: "
     "drawn by seed)"},
    {"system", where, name, field<&Keys::system>, sweeps, "",
     "known system, see `sawtooth systems`; gives defaults to all other keys"},
    {"state", where, choice, field<&Keys::state>, sweeps, "cold",
     "what L2 holds before the launch; simulate and bench know cold and as-is only"},
    {"ring-mover", where, choice, ring_field<&Keys::ring_mover>, rings, "copy",
     "with ring: what moves K and V, and gradients back: the copy engines, or NCCL, which takes "
     "SMs"},
    {"hints", where, choice, field<&Keys::hints>, sweeps, "",
     "L2 eviction priority of tensors that kernels load"},
    {"kernel", where, choice, field<&Keys::kernel>, sweeps, "",
     "family of the kernel to run (default: the first of this build that has the tile)", 1, 1,
     [] { return Names(kernels::family_names.begin(), kernels::family_names.end()); }},

    {"timing", model, choice, field<&Keys::timing>, sweeps, automatic,
     "how workers go on in time; auto: as the model that was judged best on the gpu", 1, 1,
     names_or_auto<&Keys::timing>},
    {"l2", model, choice, field<&Keys::l2>, sweeps, automatic,
     "model of the L2 cache; auto: likewise", 1, 1, names_or_auto<&Keys::l2>},
    {"without", model, choice, field<&Keys::without>, sweeps, "nothing",
     "a mechanism of timing = timed that is switched off"},
    {"kernel-costs", model, path, field<&Keys::kernel_costs>, sweeps, "",
     "timing = timed: file of the kernel's costs, as `sawtooth teach` writes it (default: those of "
     "kernels/mma)"},
    {"step-ns", model, count, field<&Keys::step_ns>, sweeps, "",
     "timing = timed: what a K/V tile step keeps an SM's pipes busy, in nanoseconds (default: as "
     "kernels/mma)",
     1, most_ns},
    {"step-exposed-ns", model, count, field<&Keys::step_exposed_ns>, sweeps, "",
     "timing = timed: what a step of a lone CTA takes beyond that (default: as kernels/mma)", 0,
     most_ns},
    {"stages", model, count, field<&Keys::stages>, sweeps, "",
     "timing = timed: K/V tiles in shared memory, that of the step included (default: 2)", 1, 8},
    {"spill-bytes", model, bytes, field<&Keys::spill_bytes>, sweeps, "",
     "timing = timed: bytes of L2 that a CTA's spilled registers take (default: none)", 1,
     int64_t{1} << 30},
    {"age-bias", model, share, field<&Keys::age_bias>, sweeps, "",
     "timing = timed: how much the oldest CTA of an SM is preferred, as a share of the "
     "exponentials' "
     "part of a step (default: as kernels/mma)"},
    {"l2-bytes", model, bytes, field<&Keys::l2_bytes>, sweeps, "",
     "capacity of L2 (default: the gpu's)", 1, int64_t{1} << 50},
    {"sample", model, share, field<&Keys::sample>, predicts, "1",
     "share of the tiles that l2 = lru follows, for points too large to do exactly; prints its "
     "error"},
    {"launches", model, count, field<&Keys::launches>, command_simulate, "1",
     "launches of timing = timed, each with random samples of its own; the row is the one with the "
     "median of DRAM reads",
     1, most_launches},
    {"l2-ways", model, count, field<&Keys::l2_ways>, sweeps, "",
     "l2 = sets: lines of a set (default: the gpu's, or 16)", 1, most_ways},
    {"l2-line-bytes", model, bytes, field<&Keys::l2_line_bytes>, sweeps, "",
     "l2 = sets: 32, 64 or 128 (default: the gpu's, or 128); sets = l2-bytes / (ways x line)", 1,
     line_bytes},
    {"l2-hash", model, choice, field<&Keys::l2_hash>, sweeps, "balanced",
     "l2 = sets: from line to set"},
    {"l2-hash-matrix", model, path, field<&Keys::l2_hash_matrix>, sweeps, "",
     "with l2-hash = xor: rows of a GF(2) matrix, a mask of line-number bits a line, the lowest "
     "set bit first (default: the line number folded)"},
    {"l2-policy", model, choice, field<&Keys::l2_policy>, sweeps, "lru",
     "l2 = sets: which line of a full set leaves"},
    {"l2-set-aside", model, bytes, field<&Keys::l2_set_aside>, sweeps, "",
     "l2 = sets: the most that tensors with hints = ...-last hold (default and limit: 3/4 of "
     "l2-bytes)",
     1, int64_t{1} << 50},
    {"seed", model, seed, field<&Keys::seed>, sweeps, "0",
     "of the random scan, of l2-policy = random, of what is random in timing = timed, and of a "
     "sample"},

    {"experiment", output, text, {}, sweeps, "", "name in the CSV (default: the configuration's)"},
    {"csv",
     output,
     path,
     {},
     both | command_merge | command_slurm,
     "",
     "results, one row a point (default: -, standard output); compare: the error of "
     "every joined point and counter"},
    {"by-tensor", output, path, {}, predicts, "", "the counters of Q, K, V, O ... one a row"},
    {"miss-curve", output, path, {}, predicts, "", "misses at every capacity"},
    {"histogram", output, path, {}, predicts, "", "reuse distances by tensor and access"},
    {"timeline",
     output,
     path,
     {},
     command_simulate,
     "",
     "Chrome trace JSON of one point: a row a CTA; opens in Perfetto"},
    {"wavefront",
     output,
     path,
     {},
     command_simulate | command_measure,
     "",
     "which worker is at which tile at each step; measured: of one more launch, recorded"},
    {"order-trace",
     output,
     path,
     {},
     command_measure,
     "",
     "every step of that launch: CTA, item, K/V tile, SM and time"},
    {"item-trace",
     output,
     path,
     {},
     command_measure,
     "",
     "every item of one more launch a repetition: CTA, steps and time"},
    {"wavefront-steps",
     output,
     count,
     {},
     command_simulate | command_measure,
     "",
     "steps that wavefront and timeline cover (default: those of the first two waves)",
     1,
     most_keys},
    {"shard",
     output,
     text,
     {},
     command_simulate | measuring,
     "",
     "I/N: the points of part I of N, from 1 on; which part a point is in follows from its run_id"},
    {"config",
     output,
     path,
     {},
     command_merge,
     "",
     "the sweep that the tables are parts of: rows come in its order, points without are named"},
    {"tasks",
     output,
     count,
     {},
     command_slurm,
     "",
     "tasks of the array, each a shard",
     1,
     most_tasks},
    {"sbatch",
     output,
     text,
     {},
     command_slurm,
     "",
     "more options of sbatch, such as \"--time=2:00:00 --cpus-per-task=8\""},
    {"threads",
     output,
     count,
     {},
     command_simulate | command_search,
     "",
     "points simulated at once, and where there are fewer, threads of each (default: all cores)",
     1,
     most_threads},
    {"read",
     output,
     path,
     {},
     command_trace,
     "",
     "a trace to analyse or convert, instead of a schedule"},
    {"write", output, path, {}, command_trace, "", "the trace to write"},
    {"format",
     output,
     choice,
     {},
     command_trace,
     "binary",
     "of the trace to write; reading tells binary and csv apart",
     1,
     1,
     [] {
       return Names{"binary", "csv", "din"};
     }},
    {"unit",
     output,
     choice,
     {},
     command_trace,
     "visits",
     "a record is a visit to a tile, or to a line",
     1,
     1,
     [] {
       return Names{"visits", "lines"};
     }},
    {"most-atoms",
     output,
     count,
     {},
     command_trace,
     "16777216",
     "different tiles or lines of a trace that is read; each takes about 100 bytes of memory",
     1,
     most_atoms},
    {"chip", output, text, {}, command_counters, "", "CUPTI's name of a chip, such as GH100"},
    {"match", output, text, {}, command_counters, "", "only metrics whose name contains this"},
    {"metrics",
     output,
     text,
     {},
     command_counters,
     "",
     "metrics to dump, comma-separated, each with its rollup (.sum, .avg, .pct ...)"},
    {"output",
     output,
     path,
     {},
     command_calibrate,
     "runs/calibrate",
     "folder of all that is written"},
    {"from",
     output,
     path,
     {},
     command_calibrate,
     "",
     "fit the two-half model to this stream_counters.csv instead of measuring; needs no GPU"},
    {"items",
     output,
     path,
     {},
     command_calibrate,
     "",
     "write files of the GPU, die and kernels from this CSV of measure and, behind it, its "
     "--item-trace; needs no GPU"},
    {"devices",
     output,
     text,
     {},
     command_ring,
     "",
     "CUDA device of each GPU of the ring, comma-separated; one may stand several times, for a "
     "check on a single GPU (default: 0, 1, 2 ...)"},
    {"automatic",
     output,
     toggle,
     {},
     command_ring,
     "off",
     "kernel, tile and schedule of each call as the library chooses them where nothing is asked "
     "for; rows say which they are"},
    {"check",
     output,
     toggle,
     {},
     command_ring,
     "off",
     "compare O and log-sum-exp of every row, or the gradients, with the plain call on one GPU; "
     "exit "
     "code 1 where they differ by more than rounding"},
    {"counted", output, on_off, {}, command_ring, "on", "off: times alone, no L2 counters"},
    {"repetitions",
     output,
     count,
     {},
     command_calibrate | measuring | command_ring,
     "3",
     "measurements of each point (bench: 15, ring: 5 rounds)",
     1,
     1000},
    {"paced",
     output,
     toggle,
     {},
     command_bench,
     "off",
     "one round for every line of standard input, answered by a line, so that a script can time "
     "other programs in between; an empty input ends the rounds"},
    {"counters",
     output,
     text,
     {},
     command_compare,
     "",
     "counters to compare, comma-separated (default: all that both sides have)"},
    {"baselines",
     output,
     text,
     {},
     command_compare,
     "",
     "also judge simple rules and the skill over each of them: `computed` (compulsory, lockstep "
     "LRU of the whole L2 and of half, halves), or CSVs of predictions, comma-separated"},
    {"summary",
     output,
     text,
     {},
     command_compare,
     "",
     "CSV of what is printed: one row a group, counter, set of points and statistic"},
    {"tolerance",
     output,
     tolerance,
     {},
     command_compare,
     "",
     "largest error that passes: 5% or 0.05 for all, or counter=5%,other=10%"},
    {"no-worse-than",
     output,
     path,
     {},
     command_compare,
     "",
     "predictions that were kept: exit code 1 where misses of PREDICTED are above theirs, by more "
     "than the tolerance where one is given"},
    {"dry-run",
     output,
     toggle,
     {},
     command_simulate | command_measure | command_ring,
     "off",
     "simulate: say how many points there are, and the time and memory they are expected to take; "
     "measure: which kernels, metrics and passes would run, without a GPU; ring: which rows meet "
     "which keys in which step, and what crosses the link meanwhile"},
    {"kernels",
     output,
     toggle,
     {},
     command_schedules,
     "off",
     "list the attention kernels of this build instead"},
    {"minimise",
     output,
     text,
     {},
     command_search,
     "time",
     "column that the best schedule has least of: time, or a counter such as dram_read_sectors"},
    {"subject-to",
     output,
     text,
     {},
     command_search,
     "",
     "what it must keep, comma-separated: COLUMN<=NUMBER, or COLUMN<=NUMBER*best, such as "
     "time<=1.01*best"},
    {"budget",
     output,
     text,
     {},
     command_search,
     "40",
     "schedules a shape that the deciding model may predict; or, for all shapes, seconds of one "
     "core by an estimate, such as 60s"},
    {"audit",
     output,
     count,
     {},
     command_search,
     "0",
     "schedules a shape that were pruned and are decided nevertheless, drawn by seed, to see how "
     "often one of them wins",
     0,
     most_keys},
    {"orders",
     output,
     count,
     {},
     command_search,
     "0",
     "explicit orders that a local search tries from the best schedule on; a better one is written "
     "beside --csv",
     0,
     most_keys},
    {"measure",
     output,
     toggle,
     {},
     command_search,
     "off",
     "also run the best schedules and the usual one on the GPU: measured rank, regret, traffic"},
    {"top",
     output,
     count,
     {},
     command_search,
     "5",
     "schedules a shape that are shown, and measured",
     1,
     most_launches},
    {"best",
     output,
     path,
     {},
     command_search,
     "",
     "the best schedule of each shape as a configuration, which simulate, measure and bench take"},
    {"print-config",
     output,
     toggle,
     {},
     command_simulate,
     "off",
     "print the resolved configuration and stop"},
    {"resume",
     output,
     toggle,
     {},
     command_simulate | command_measure | command_search,
     "off",
     "keep the rows that --csv has, do the rest"},
    {"overwrite",
     output,
     toggle,
     {},
     command_simulate | measuring | command_trace | command_search | command_ring,
     "off",
     "leave the rows of a sweep that was interrupted"},
    {"quiet",
     output,
     toggle,
     {},
     both | command_calibrate | command_merge | command_ring,
     "off",
     "no notes and no progress on standard error"},
});

}  // namespace

std::span<const OptionSpec> option_table() {
  return table;
}

std::vector<std::string_view> option_names(CommandSet commands) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : table) {
    if ((option.commands & commands) != 0) names.push_back(option.key);
  }
  return names;
}

std::string_view key_of_name(std::string_view name) {
  for (const OptionAlias& alias : option_aliases)
    if (alias.name == name) return alias.key;
  return name;
}

const OptionSpec* find_option(std::string_view key) {
  for (const OptionSpec& option : table) {
    if (option.key == key) return &option;
  }
  return nullptr;
}

std::string allowed_values(const OptionSpec& option) {
  switch (option.kind) {
    case count:
      return "a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + " (K, M and G mean 1024, 1024^2 and 1024^3)" +
             (option.is_axis() ? ", or a range such as 96K..128K:4K" : "");
    case parts:
      return "auto, or a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + ", or a range such as 1..8";
    case bytes:
      return "bytes from " + std::to_string(option.low) + " to " + std::to_string(option.high) +
             ", such as 25165824, 512KiB, 24MiB or 1GiB";
    case share:
      return "a number above 0 and up to 1, or a percentage, such as 0.01 or 1%";
    case seed:
      return "a whole number from 0 on";
    case choice: {
      std::string list;
      for (const std::string_view choice_name : option.allowed()) {
        list += (list.empty() ? "" : ", ") + std::string(choice_name);
      }
      return "one of " + list;
    }
    case on_off:
    case toggle:
      return "on or off";
    case mask:
      return "none, causal or window:W with W from 1 to " + std::to_string(most_keys) + " keys";
    case section:
      return "a whole number of heads, all, or auto:BYTES such as auto:32MiB";
    case part:
      return "a whole number from " + std::to_string(option.low) + " to " +
             std::to_string(option.high) + ", or all";
    case lengths:
      return std::string(allowed_lengths);
    case page_table:
      return std::string(allowed_page_tables);
    case name:
      return "a known name, or a path with a '/' or an ending .ini";
    case path:
      return "a file name";
    case tolerance:
      return "5% or 0.05, or a list such as dram_read_sectors=3%,time_us=5%";
    case text:
      return "text on one line";
  }
  return {};
}

}  // namespace sawtooth::experiments
