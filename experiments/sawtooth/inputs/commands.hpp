// The commands of the program: what the help says of each, the function that runs it, and the
// options that it reads. A command is declared here; its function stands in its folder.
#pragma once

#include <array>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/exit_code.hpp"

namespace sawtooth::experiments {

using RunCommand = int(const Command& command, const Arguments& arguments);
RunCommand run_simulate, run_search, run_run, run_merge, run_slurm, run_compare, run_plot,
    run_report, run_counters, run_calibrate, run_record, run_import_ncu, run_order, run_teach,
    run_advise, run_trace, run_gpus, run_systems, run_schedules,
    run_measure;  // of which a build without kernels has --dry-run

#if defined(SAWTOOTH_HAVE_KERNELS)
RunCommand run_bench, run_ring, run_counters_dump;
#else
inline int run_not_built(const Command& command, const Arguments& arguments) {
  parse_command_line(command, arguments, 1);
  return report_not_built(command.name);
}
inline constexpr RunCommand *run_bench = run_not_built, *run_ring = run_not_built,
                            *run_counters_dump = run_not_built;
#endif

// Options of commands about launches of other programs.
inline constexpr auto record_options = std::to_array<PlainOption>({
    {"kernel", "REGEX", "launches of kernels whose name it matches (default: all)"},
    {"nvtx", "RANGE", "launches inside NVTX ranges of this name"},
    {"skip", "N", "of these, the first N are not counted (default: 0)"},
    {"count", "N", "and at most N behind them are (default: all)"},
    {"metrics", "LIST", "metrics with their rollup (default: those of results.csv)"},
    {"flush", "", "L2 is cold before each of these launches"},
    {"device", "N", "the GPU that the command uses (default: 0)"},
    {"gpu", "NAME", "its profile, for the column gpu"},
    {"csv", "FILE", "a row a launch (default: -, standard output)"},
});
inline constexpr auto import_ncu_options = std::to_array<PlainOption>({
    {"kernel", "REGEX", "launches of kernels whose name it matches (default: all)"},
    {"label", "FILE", "the configuration whose points they are, in order"},
    {"map", "FILE", "an INI of lines METRIC = COLUMN, for metrics that are not known"},
    {"csv", "FILE", "the rows of results.csv, a launch each; must be given"},
});
inline constexpr auto order_options = std::to_array<PlainOption>({
    {"q-tiles", "N", "Q tiles of a head (default: as many as the stamps name)"},
    {"order-file", "FILE", "writes the order for simulate --order-file"},
    {"wavefront", "FILE", "writes which CTA is at which tile at each step"},
    {"wavefront-steps", "N", "steps of it (default: two waves)"},
});
inline constexpr auto teach_options = std::to_array<PlainOption>({
    {"output", "FILE", "the costs, for simulate --kernel-costs; must be given"},
    {"gpu", "NAME", "the profile of rows that name no GPU"},
    {"threads", "N", "points that are predicted at once (default: all cores)"},
    {"quiet", "", "without progress"},
});

inline constexpr Command simulate_command{"simulate", "[CONFIG]",
                                          "predict the counters of every point, without a GPU",
                                          run_simulate, command_simulate};
inline constexpr Command measure_command{"measure", "[CONFIG]",
                                         "run the kernels of every point and read L2 counters",
                                         run_measure, command_measure};
inline constexpr Command bench_command{"bench", "[CONFIG]",
                                       "time all points against each other, interleaved", run_bench,
                                       command_bench};
inline constexpr Command ring_command{"ring", "[CONFIG]",
                                      "run ring attention over several GPUs beside one of them",
                                      run_ring, command_ring};
inline constexpr Command search_command{"search", "[CONFIG]",
                                        "the best schedules of a problem, and how far any could go",
                                        run_search, command_search};
inline constexpr Command run_command{
    "run", "CONFIG", "simulate, measure where a GPU is, compare, draw; all into runs/NAME",
    run_run};
inline constexpr Command merge_command{
    "merge", "TABLE.csv ...", "join the parts of a sweep (--shard), and name what is missing",
    run_merge, command_merge};
inline constexpr Command slurm_command{
    "slurm", "CONFIG", "print a job array for Slurm: a shard a task, what is missing once more",
    run_slurm, command_slurm};
inline constexpr Command compare_command{"compare", "PREDICTED MEASURED",
                                         "join two CSVs and print the errors of every counter",
                                         run_compare, command_compare};
inline constexpr Command plot_command{
    .name = "plot",
    .operands = "FIGURE TABLE.csv ... -o OUT",
    .description = "draw a figure from tables; `sawtooth plot --list` has them",
    .run = run_plot,
    .own_help = true};
inline constexpr Command report_command{
    .name = "report",
    .operands = "RUN -o FILE.html",
    .description = "one page of a run: the answer, tables and pictures, no network",
    .run = run_report,
    .own_help = true};
inline constexpr Command counters_command{"counters", "list | dump [CONFIG]",
                                          "list: metrics of a chip and the passes that they take, "
                                          "without a GPU; dump: any metrics of our kernels",
                                          run_counters, command_counters | command_measure};
inline constexpr Command calibrate_command{
    "calibrate", "[ITEMS.csv]",
    "run streams on this GPU; write its profile and raw counters; or fit the two-half model to "
    "recorded ones, or a kernel's costs to what items of its launches took",
    run_calibrate, command_calibrate};
inline constexpr Command record_command_entry{
    .name = "record",
    .operands = "[--key value ...] -- COMMAND ...",
    .description =
        "L2 counters of the launches of any CUDA program; it runs once for each replay pass",
    .run = run_record,
    .flags = record_options};
inline constexpr Command import_ncu_command{
    .name = "import-ncu",
    .operands = "REPORT.csv --csv OUT",
    .description =
        "rows of results.csv from `ncu --csv`, best of `--page raw --print-units base`; other "
        "metrics go to OUT.metrics.csv",
    .run = run_import_ncu,
    .flags = import_ncu_options};
inline constexpr Command order_command{
    .name = "order",
    .operands = "STAMPS",
    .description =
        "the schedule that best describes the stamps of a launch, and how far its CTAs drift apart",
    .run = run_order,
    .flags = order_options};
inline constexpr Command teach_command{
    .name = "teach",
    .operands = "ROWS.csv --output KERNEL.ini",
    .description = "learn a kernel's costs from durations of linear scans inside and beyond L2",
    .run = run_teach,
    .flags = teach_options};
inline constexpr Command advise_command{
    "advise", "[CONFIG]",
    "what each order would change: DRAM reads, time with its interval, and why", run_advise,
    command_simulate};
inline constexpr Command trace_command{
    "trace", "[CONFIG]", "write the trace of a point, or read one and predict from it", run_trace,
    command_trace};
inline constexpr Command gpus_command{"gpus", "[NAME]", "list the GPU profiles, or all of one",
                                      run_gpus};
inline constexpr Command systems_command{
    "systems", "[NAME]", "list the known systems and what their models leave out", run_systems};
inline constexpr Command schedules_command{
    "schedules", "[NAME]", "list the orders, launches, scans and models, or the kernels",
    run_schedules, command_schedules};

}  // namespace sawtooth::experiments
