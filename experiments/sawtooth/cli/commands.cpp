#include "experiments/sawtooth/cli/commands.hpp"

#include <array>

namespace sawtooth::experiments {
namespace {

constexpr auto table = std::to_array<Command>({
  {"simulate", "[CONFIG]", "predict the counters of every point, without a GPU", run_simulate,
   command_simulate},
#if defined(SAWTOOTH_HAVE_KERNELS)
      {"measure", "[CONFIG]", "run the kernels of every point and read L2 counters", run_measure,
       command_measure},
      {"bench", "[CONFIG]", "time all points against each other, interleaved", run_bench,
       command_bench},
#endif
      {"run", "CONFIG", "simulate, measure where a GPU is, compare, draw; all into runs/NAME",
       run_run, 0},
      {"compare", "PREDICTED MEASURED", "join two CSVs and print the errors of every counter",
       run_compare, command_compare},
      {"counters", "list | dump [CONFIG]",
       "list: metrics of a chip and the passes that they take, without a GPU; dump: any metrics of "
       "our kernels",
       run_counters, command_counters | command_measure},
      {"calibrate", "",
       "run streams on this GPU; write its profile, its die's map and raw counters; or fit the "
       "two-half model to recorded ones",
       run_calibrate, command_calibrate},
#if defined(SAWTOOTH_HAVE_TRACE)
      {"trace", "[CONFIG]", "write the trace of a point, or read one and predict from it",
       run_trace, command_trace},
#endif
      {"gpus", "", "list the GPU profiles", run_gpus, 0},
      {"systems", "", "list the known systems and what their models leave out", run_systems, 0},
      {"schedules", "", "list the orders, launches, scans and models, or the kernels",
       run_schedules, command_schedules},
});

}  // namespace

std::span<const Command> commands() {
  return table;
}

}  // namespace sawtooth::experiments
