// Options that are keys of points.
#include <array>

#include "experiments/sawtooth/inputs/key_field.hpp"
#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/option_rows.hpp"
#include "kernels/attention/variant_list.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

using enum OptionGroup;
using enum OptionKind;

constexpr auto point_rows = std::to_array<OptionSpec>({
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
     "of the random scan, of l2-policy = random, and of what is random in timing = timed"},
});

}  // namespace

std::span<const OptionSpec> point_options() {
  return point_rows;
}

}  // namespace sawtooth::experiments
