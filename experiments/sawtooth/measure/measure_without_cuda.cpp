// sawtooth measure in a build without kernels: --dry-run alone.
#include <iostream>

#include "experiments/sawtooth/inputs/choice.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/results/result_row.hpp"

namespace sawtooth::experiments {
namespace {

// Prints what would run, or says why none would, as a build with kernels refuses it.
std::string plan_or_fault(const Point& point) {
  const Problem& problem = point.request.problem;
  const auto* row = kernel_with_tile(point.keys.kernel, problem, point.request.tiling);
  if (row == nullptr || !serves(*row, problem) || point.keys.loop != Loop::kv_inner)
    return "no kernel of this head dim has dtype = " + point.text("dtype") +
           ", loop = " + point.text("loop") + " and tiles of " + point.text("tile-q") + "x" +
           point.text("tile-kv") + "; allowed: bf16, fp16 (mma-fp32: fp32), kv-inner, " +
           known_tiles(point.keys.kernel, problem);
  std::string fault = no_room(point, row->shared_bytes);
  if (fault.empty())
    print_planned_point(std::cout, point, row->family, row->tiling, row->shared_bytes);
  return fault;
}

}  // namespace

int run_measure(const Command& command, const Arguments& arguments) {
  const SweepArguments given = parse_sweep_arguments(command, arguments);
  if (!is_on(given.outputs, "dry-run")) return report_not_built(command.name);
  Catalog catalog;
  Failures refused;
  Pass pass = Pass::forward;  // backward where any point is: then additions are counted of all
  const PointList list(given.configuration, given.command_line);
  for (size_t i = 0; i < list.size(); ++i) {
    Point point = resolve_or_refuse(list[i], catalog);
    if (point.request.problem.pass == Pass::backward) pass = Pass::backward;
    if (point.refusal.empty()) point.refusal = plan_or_fault(point);
    if (!point.refusal.empty())
      refused.add(row_without_result(measured_key_cells(point, given.experiment), status_refused,
                                     point.refusal));
  }
  print_counter_plans(std::cout, pass);
  refused.print();
  return refused.empty() ? exit_fine : exit_check_failed;
}

}  // namespace sawtooth::experiments
