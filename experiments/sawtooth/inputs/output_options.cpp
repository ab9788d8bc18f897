// Options that are no keys of points.
#include <array>
#include <string_view>

#include "experiments/sawtooth/inputs/option_schema.hpp"

namespace sawtooth::experiments {
namespace {

using enum OptionKind;

constexpr OptionSpec of_output(std::string_view key, OptionKind kind, CommandSet commands,
                               std::string_view default_text, std::string_view description,
                               int64_t low = 1, int64_t high = 1, Names (*choices)() = nullptr) {
  return {key,          OptionGroup::output, kind, {},   commands,
          default_text, description,         low,  high, choices};
}

constexpr auto output_rows = std::to_array<OptionSpec>({
    of_output("experiment", text, sweep_commands, "",
              "name in the CSV (default: the configuration's)"),
    of_output("csv", path, both_commands | command_merge | command_slurm, "",
              "results, one row a point (default: -, standard output); compare: the error of every "
              "joined point and counter"),
    of_output("by-tensor", path, predict_commands, "", "the counters of Q, K, V, O ... one a row"),
    of_output("miss-curve", path, predict_commands, "", "misses at every capacity"),
    of_output("histogram", path, predict_commands, "", "reuse distances by tensor and access"),
    of_output("timeline", path, command_simulate, "",
              "Chrome trace JSON: a process a point, a row a CTA; opens in Perfetto"),
    of_output("wavefront", path, command_simulate | command_measure, "",
              "which worker is at which tile at each step; measured: of one more launch, recorded"),
    of_output("order-trace", path, command_measure, "",
              "every step of that launch: CTA, item, K/V tile, SM and time"),
    of_output("item-trace", path, command_measure, "",
              "every item of one more launch a repetition: CTA, steps and time"),
    of_output("wavefront-steps", count, command_simulate | command_measure, "",
              "steps that wavefront and timeline cover (default: those of the first two waves)", 1,
              most_keys),
    of_output("shard", text, command_simulate | measure_commands, "",
              "I/N: the points of part I of N, from 1 on; which part a point is in follows from "
              "its run_id"),
    of_output(
        "config", path, command_merge, "",
        "the sweep that the tables are parts of: rows come in its order, points without are named"),
    of_output("tasks", count, command_slurm, "", "tasks of the array, each a shard", 1, most_tasks),
    of_output("sbatch", text, command_slurm, "",
              "more options of sbatch, such as \"--time=2:00:00 --cpus-per-task=8\""),
    of_output("threads", count, command_simulate | command_search, "",
              "points simulated at once (default: all cores)", 1, most_threads),
    of_output("read", path, command_trace, "",
              "a trace to analyse or convert, instead of a schedule"),
    of_output("write", path, command_trace, "", "the trace to write"),
    of_output("format", choice, command_trace, "binary",
              "of the trace to write; reading tells binary and csv apart", 1, 1,
              [] {
                return Names{"binary", "csv", "din"};
              }),
    of_output("unit", choice, command_trace, "visits",
              "a record is a visit to a tile, or to a line", 1, 1,
              [] {
                return Names{"visits", "lines"};
              }),
    of_output(
        "most-atoms", count, command_trace, "16777216",
        "different tiles or lines of a trace that is read; each takes about 100 bytes of memory", 1,
        most_atoms),
    of_output("chip", text, command_counters, "", "CUPTI's name of a chip, such as GH100"),
    of_output("match", text, command_counters, "", "only metrics whose name contains this"),
    of_output("metrics", text, command_counters, "",
              "metrics to dump, comma-separated, each with its rollup (.sum, .avg, .pct ...)"),
    of_output("output", path, command_calibrate, "runs/calibrate", "folder of all that is written"),
    of_output("from", path, command_calibrate, "",
              "fit the two-half model to this stream_counters.csv instead of measure_commands; "
              "needs no GPU"),
    of_output("items", path, command_calibrate, "",
              "write a kernel's costs from this launches.csv, or from a CSV of measure and, behind "
              "it, its --item-trace; needs no GPU"),
    of_output("devices", text, command_ring, "",
              "CUDA device of each GPU of the ring, comma-separated; one may stand several times, "
              "for a check on a single GPU (default: 0, 1, 2 ...)"),
    of_output("automatic", toggle, command_ring, "off",
              "kernel, tile and schedule of each call as the library chooses them where nothing is "
              "asked for; rows say which they are"),
    of_output("check", toggle, command_ring, "off",
              "compare O and log-sum-exp of every row, or the gradients, with the plain call on "
              "one GPU; exit code 1 where they differ by more than rounding"),
    of_output("counted", on_off, command_ring, "on", "off: times alone, no L2 counters"),
    of_output("repetitions", count, command_calibrate | measure_commands | command_ring, "3",
              "measurements of each point (bench: 15, ring: 5 rounds)", 1, 1000),
    of_output("counters", text, command_compare, "",
              "counters to compare, comma-separated (default: all that both sides have)"),
    of_output("summary", text, command_compare, "",
              "CSV of what is printed: one row a group, counter, set of points and statistic"),
    of_output("tolerance", tolerance, command_compare, "",
              "largest error that passes: 5% or 0.05 for all, or counter=5%,other=10%"),
    of_output("no-worse-than", path, command_compare, "",
              "predictions that were kept: exit code 1 where misses of PREDICTED are above theirs, "
              "by more than the tolerance where one is given"),
    of_output("dry-run", toggle, command_simulate | command_measure | command_ring, "off",
              "simulate: say how many points there are, and the time and memory they are expected "
              "to take; measure: which kernels, metrics and passes would run, without a GPU; ring: "
              "which rows meet which keys in which step, and what crosses the link meanwhile"),
    of_output("kernels", toggle, command_schedules, "off",
              "list the attention kernels of this build instead"),
    of_output(
        "minimise", text, command_search, "time",
        "column that the best schedule has least of: time, or a counter such as dram_read_sectors"),
    of_output("subject-to", text, command_search, "",
              "what it must keep, comma-separated: COLUMN<=NUMBER, or COLUMN<=NUMBER*best, such as "
              "time<=1.01*best"),
    of_output("budget", text, command_search, "40",
              "schedules a shape that the deciding model may predict; or, for all shapes, seconds "
              "of one core by an estimate, such as 60s"),
    of_output("top", count, command_search, "5", "schedules a shape that are shown", 1,
              most_launches),
    of_output("best", path, command_search, "",
              "the best schedule of each shape as a configuration, which simulate, measure and "
              "bench take"),
    of_output("print-config", toggle, command_simulate, "off",
              "print the resolved configuration and stop"),
    of_output("resume", toggle, command_simulate | command_measure | command_search, "off",
              "keep the rows that --csv has, do the rest"),
    of_output("overwrite", toggle,
              command_simulate | measure_commands | command_trace | command_search | command_ring,
              "off", "replace rows of an interrupted sweep, or a file of another kind"),
    of_output("quiet", toggle, both_commands | command_calibrate | command_merge | command_ring,
              "off", "no notes and no progress on standard error"),
});

}  // namespace

std::span<const OptionSpec> output_options() {
  return output_rows;
}

}  // namespace sawtooth::experiments
