// The commands of the program, in the order of the help: what it says of each, an example, the
// function that runs it, and the options that it reads. The function stands in the command's
// folder.
#pragma once

#include <array>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "experiments/sawtooth/inputs/command_line.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

/// To be returned by a command that needs kernels, in a program built without a CUDA compiler.
inline int report_not_built(std::string_view command) {
  std::cerr << "sawtooth: " << command
            << " needs kernels, but this program was built without a CUDA compiler; install nvcc "
               "and build again\n";
  return exit_no_device;
}

using RunCommand = int(const Command& command, const Arguments& arguments);
RunCommand run_simulate, run_search, run_run, run_merge, run_slurm, run_compare, run_plot,
    run_report, run_counters, run_calibrate, run_record, run_import_ncu, run_order, run_teach,
    run_learn, run_advise, run_gpus, run_systems, run_schedules,
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

#if defined(SAWTOOTH_HAVE_TRACE)
RunCommand run_trace;
#else
inline int run_without_zstd(const Command& command, const Arguments&) {
  std::cerr << "sawtooth: " << command.name
            << " needs zstd, which this program was built without\n";
  return exit_no_device;
}
inline constexpr RunCommand* run_trace = run_without_zstd;
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

inline constexpr auto learn_options = std::to_array<PlainOption>({
    {"kernel", "REGEX", "launches of kernels whose name it matches"},
    {"gpu", "NAME", "the profile of the GPU that the command runs on"},
    {"head-dim", "N", "elements of a row that the command has"},
    {"dtype", "NAME", "its element type (default: bf16)"},
    {"mask", "MASK", "none or causal, of a command without {causal} (default: none)"},
    {"budget", "N", "launches, each run twice; two are held back (default: 8)"},
    {"rows", "FILE", "learn from these rows instead; no GPU is needed"},
    {"tile-q", "N", "rows of a Q tile, where launches do not say them"},
    {"tile-kv", "N", "rows of a K/V tile, which launches hardly say (default: 64)"},
    {"csv", "FILE", "the rows of all launches, for --rows"},
    {"output", "FILE", "the system file, for simulate --system; must be given"},
    {"threads", "N", "points that are predicted at once (default: all cores)"},
});

inline constexpr auto command_table = std::to_array<Command>({
    {"simulate", "[CONFIG]", "predict the counters of every point, without a GPU",
     "--gpu h200 --seq 64K,128K --scan linear,sawtooth", run_simulate, command_simulate},
    {"measure", "[CONFIG]", "run the kernels of every point and read L2 counters",
     "--gpu h200 --seq 64K --scan linear,sawtooth --csv m.csv", run_measure, command_measure},
    {"bench", "[CONFIG]", "time all points against each other, interleaved",
     "--seq 8K,16K --mask causal --heads 16 --head-dim 128", run_bench, command_bench},
    {"ring", "[CONFIG]", "run ring attention over several GPUs beside one of them",
     "--ring 2 --seq 64K --head-dim 128", run_ring, command_ring},
    {"search", "[CONFIG]", "the best schedules of a problem, and how far any could go",
     "--gpu h200 --seq 64K --mask causal --heads 16 --budget 60s", run_search, command_search},
    {"run", "CONFIG", "simulate, measure where a GPU is, compare, draw; all into runs/NAME",
     "sweep.ini", run_run},
    {"merge", "TABLE.csv ...", "join the parts of a sweep (--shard), and name what is missing",
     "part1.csv part2.csv --config sweep.ini --csv all.csv", run_merge, command_merge},
    {"slurm", "CONFIG", "print a job array for Slurm: a shard a task, what is missing once more",
     "sweep.ini --tasks 16", run_slurm, command_slurm},
    {"compare", "PREDICTED MEASURED", "join two CSVs and print the errors of every counter",
     "predicted.csv measured.csv --tolerance 5%", run_compare, command_compare},
    {"plot", "FIGURE TABLE.csv ... -o OUT",
     "draw FIGURE, one of `sawtooth plot --list`, from tables", "reads_by_length rows.csv -o reads",
     run_plot},
    {"report", "RUN -o FILE.html", "one page of a run: the answer, tables and pictures, no network",
     "runs/sweep -o sweep.html", run_report},
    {"counters", "list | dump [CONFIG]",
     "list: metrics of a chip and the passes that they take, without a GPU; dump: any "
     "metrics of our kernels",
     "list --chip h200 --match lts__t_sectors", run_counters, command_counters | command_measure},
    {"calibrate", "[ITEMS.csv]",
     "run streams on this GPU; write its profile and raw counters; or fit the two-half "
     "model to recorded ones, or a kernel's costs to what items of its launches took",
     "--gpu h200 --output new-gpu", run_calibrate, command_calibrate},
    {"record", "[--key value ...] -- COMMAND ...",
     "L2 counters of the launches of any CUDA program; it runs once for each replay pass",
     "--kernel attention --flush --csv theirs.csv -- python3 train.py", run_record, 0,
     record_options},
    {"import-ncu", "REPORT --csv OUT",
     "rows of results.csv from a report of Nsight Compute: an .ncu-rep where ncu is on the "
     "path, or `ncu --csv`, best of `--page raw --print-units base`; other metrics go to "
     "OUT.metrics.csv",
     "report.csv --csv rows.csv", run_import_ncu, 0, import_ncu_options},
    {"order", "STAMPS",
     "the schedule that best describes the stamps of a launch, and how far its CTAs drift apart",
     "stamps.csv --q-tiles 64", run_order, 0, order_options},
    {"teach", "ROWS.csv --output KERNEL.ini",
     "learn a kernel's costs from durations of linear scans inside and beyond L2",
     "rows.csv --output costs.ini", run_teach, 0, teach_options},
    {"learn", "--output MINE.ini -- COMMAND ...",
     "from somebody's kernel to a system file, by a program that takes {seq}, {heads}, {causal}",
     "--gpu h200 --head-dim 128 --kernel flash --output mine.ini -- python3 bench.py --seq {seq}",
     run_learn, 0, learn_options},
    {"advise", "[CONFIG]",
     "what each order would change: DRAM reads, time with its interval, and why",
     "--gpu h200 --heads 16 --kv-heads 4 --seq 32K --mask causal", run_advise, command_simulate},
    {"trace", "[CONFIG]", "write the trace of a point, or read one and predict from it",
     "--gpu gb10 --seq 4K --write visits.csv --format csv", run_trace, command_trace},
    {"gpus", "[NAME]", "list the GPU profiles, or all of one", "a100", run_gpus},
    {"systems", "[NAME]", "list the known systems and what their models leave out",
     "flash-attention-2", run_systems},
    {"schedules", "[NAME]", "list the orders, launches, scans and models, or the kernels", "attach",
     run_schedules, command_schedules},
});

/// A command of the table. Throws std::out_of_range for a name that is not there.
constexpr Command command_named(std::string_view name) {
  for (const Command& command : command_table)
    if (command.name == name) return command;
  throw std::out_of_range("no such command: " + std::string(name));
}

/// Draws what the folder's tables allow into FOLDER/plots, and writes a page of them. Where
/// that is not possible one line on standard error says so; results never depend on pictures.
void draw_run(const std::string& folder, const std::string& page);

}  // namespace sawtooth::experiments
