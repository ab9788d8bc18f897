#include <iostream>
#include <optional>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/order/find_schedule.hpp"
#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/launch.hpp"

namespace sawtooth::experiments {
namespace {

std::string per_cent(double share) {
  return fixed(100 * share, 1) + " %";
}

std::string order_text(const std::vector<WorkCoordinates>& order) {
  std::string text;
  for (const WorkCoordinates& at : order)
    text += std::to_string(at.batch) + " " + std::to_string(at.head) + " " +
            std::to_string(at.own_tile) + "\n";
  return text;
}

}  // namespace

int run_order(const Command& command, const Arguments& arguments) {
  const PlainOptions options = parse_plain_options(command.name, arguments, command.flags, 1);
  if (options.operands.empty()) throw UsageError("order: name the file of stamps");
  const std::string& path = options.operands.front();
  std::optional<OutputFile> order, steps;  // opened before the work
  if (options.has("order-file")) order.emplace(options.value_or("order-file", ""));
  if (options.has("wavefront")) steps.emplace(options.value_or("wavefront", ""));
  const Stamps stamps = read_stamps(read_csv(path), options.count_or("q-tiles", 0));
  const FoundSchedule found = find_schedule(stamps);
  const Drift drift = drift_of(stamps, found);

  // Lines of a configuration.
  std::cout << "# " << one_line(path) << ": " << stamps.steps.size() << " stamps, " << stamps.heads
            << " heads of " << stamps.q_tiles << " Q tiles\n"
            << "launch = " << found.launch << "\nworkers = " << found.workers << "\n";
  if (found.describes_order())
    std::cout << "section = " << found.section << "\nq-order = " << found.q_order
              << "  # items in place: " << per_cent(found.items_in_place) << "\n";
  else
    std::cout << "# no section and q-order describes it (the best one "
              << per_cent(found.items_in_place) << " of items); take --order-file\n";
  std::cout << "scan = " << found.scan << "  # steps in order: " << per_cent(found.steps_in_order)
            << "\n# drift: CTAs on one head are " << fixed(drift.median_tiles, 1)
            << " K/V tiles apart (median), " << fixed(drift.p95_tiles, 1) << " (95 %); median step "
            << drift.step_ns << " ns\n";

  if (order) order->write(order_text(observed_order(stamps, found)));
  if (steps) {
    CsvRow cells(key_column_count);
    cells[result_column("experiment")] = stem_of(path);
    cells[result_column("scan")] = found.scan;
    constexpr int64_t usual_steps = 256;
    const auto wavefront =
        sampled_wavefront(stamps.steps, options.count_or("wavefront-steps", usual_steps),
                          found.launch == GridLaunch::name);
    steps->write(wavefront_header() + wavefront_rows(cells, wavefront));
  }
  for (std::optional<OutputFile>* file : {&order, &steps})
    if (*file) (*file)->commit();
  return exit_fine;
}

}  // namespace sawtooth::experiments
