// sawtooth measure in a build without kernels: --dry-run alone.
#include <iostream>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {

int run_measure(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  if (!is_on(given.outputs, "dry-run")) return report_not_built(command.name);
  Catalog catalog;
  Failures refused;
  Pass pass = Pass::forward;  // backward where any point is: then additions are counted of all
  const PointList list(given.configuration, given.command_line);
  for (size_t i = 0; i < list.size(); ++i) {
    Point point = resolve_or_refuse(list[i], catalog);
    const sim::Request& request = point.request;
    const std::string& family = point.keys.kernel;
    if (request.problem.pass == Pass::backward) pass = Pass::backward;
    const auto* row = kernel_with_tile(family, request.problem, request.tiling);
    if (point.refusal.empty() && row == nullptr)
      point.refusal = "no kernel of this head dim has tiles of " + point.text("tile-q") + "x" +
                      point.text("tile-kv") +
                      "; allowed tiles: " + known_tiles(family, request.problem);
    if (point.refusal.empty())
      print_planned_point(std::cout, point, row->family, row->tiling, row->shared_bytes);
    else
      refused.add(row_without_result(measured_key_cells(point, given.experiment), status_refused,
                                     point.refusal));
  }
  print_counter_plans(std::cout, pass);
  refused.print();
  return refused.empty() ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
