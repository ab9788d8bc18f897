// sawtooth plot, report and parquet: pictures, a page, and a file for other tools, by the scripts
// in plots/.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_plot(const Command& command, const Arguments& arguments);

inline constexpr Command plot_command{"plot",
                                      "FIGURE TABLE.csv ... -o OUT",
                                      "draws a figure from tables; `sawtooth plot --list` has them",
                                      run_plot,
                                      0,
                                      true};

int run_report(const Command& command, const Arguments& arguments);

inline constexpr Command report_command{
    "report",
    "RUN -o FILE.html",
    "one page of a run: tables and pictures to explore, no network",
    run_report,
    0,
    true};

int run_parquet(const Command& command, const Arguments& arguments);

inline constexpr Command parquet_command{
    "parquet",
    "TABLE.csv ... -o OUT.parquet",
    "writes tables as one Parquet file with typed columns, by pyarrow",
    run_parquet,
    0,
    true};

}  // namespace sawtooth::experiments
