// sawtooth import-ncu: Nsight Compute's raw CSV as rows of results.csv.
#pragma once

#include "experiments/sawtooth/inputs/command_line.hpp"

namespace sawtooth::experiments {

int run_import_ncu(const Command& command, const Arguments& arguments);
inline constexpr Command import_ncu_command{
    "import-ncu", "REPORT.csv [--map FILE] --csv OUT",
    "rows of results.csv from `ncu --csv --page raw --print-units base`; other metrics go to "
    "OUT.metrics.csv",
    run_import_ncu};

}  // namespace sawtooth::experiments
