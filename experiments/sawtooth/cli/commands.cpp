#include "experiments/sawtooth/cli/commands.hpp"

#include <array>

#include "experiments/sawtooth/inputs/commands.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto table = std::to_array<Command>({
  simulate_command, measure_command, bench_command, ring_command, search_command, run_command,
      merge_command, slurm_command, compare_command, plot_command, report_command, counters_command,
      calibrate_command, record_command_entry, import_ncu_command, order_command, teach_command,
      advise_command,
#if defined(SAWTOOTH_HAVE_TRACE)
      trace_command,
#endif
      gpus_command, systems_command, schedules_command,
});

}  // namespace

std::span<const Command> commands() {
  return table;
}

}  // namespace sawtooth::experiments
