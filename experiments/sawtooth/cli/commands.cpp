#include "experiments/sawtooth/cli/commands.hpp"

#include <array>

#include "experiments/sawtooth/advise/advise_command.hpp"
#include "experiments/sawtooth/calibrate/calibrate_command.hpp"
#include "experiments/sawtooth/compare/compare_command.hpp"
#include "experiments/sawtooth/counters/counters_command.hpp"
#include "experiments/sawtooth/import_ncu/import_ncu_command.hpp"
#include "experiments/sawtooth/list/list_commands.hpp"
#include "experiments/sawtooth/measure/measure_command.hpp"
#include "experiments/sawtooth/merge/merge_command.hpp"
#include "experiments/sawtooth/order/order_command.hpp"
#include "experiments/sawtooth/plot/plot_command.hpp"
#include "experiments/sawtooth/record/record_command.hpp"
#include "experiments/sawtooth/ring/ring_command.hpp"
#include "experiments/sawtooth/run/run_command.hpp"
#include "experiments/sawtooth/search/search_command.hpp"
#include "experiments/sawtooth/simulate/simulate_command.hpp"
#include "experiments/sawtooth/slurm/slurm_command.hpp"
#include "experiments/sawtooth/teach/teach_command.hpp"
#include "experiments/sawtooth/trace/trace_command.hpp"

namespace sawtooth::experiments {
namespace {

constexpr auto table = std::to_array<Command>({
  simulate_command, measure_command, bench_command, ring_command, search_command, run_command,
      merge_command, slurm_command, compare_command, plot_command, report_command, parquet_command,
      counters_command, calibrate_command, record_command_entry, import_ncu_command, order_command,
      teach_command, advise_command,
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
