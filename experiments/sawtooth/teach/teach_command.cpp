#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

namespace sawtooth::experiments {
namespace {

// What the kernel is: shape and mask that its costs are of.
std::string shape_of(const TaughtRows& taught) {
  const Point& point = taught.rows.front().point;
  return (taught.kernel.empty() ? "a kernel" : one_line(taught.kernel)) + ", head dim " +
         point.text("head-dim") + ", tiles " + point.text("tile-q") + "x" + point.text("tile-kv") +
         ", mask " + point.text("mask") + ", on " + point.gpu.name;
}

ProfileFile file_of(const TaughtRows& taught, const FittedCosts& fitted) {
  ProfileFile file;
  file.words = {{"description", "costs of " + shape_of(taught), "", ""}};
  const std::string from = "sawtooth teach, " + std::to_string(taught.rows.size()) + " durations";
  file.sections = {{"kernel", {}}, {std::string(every_kernel), parameters_of(fitted, from)}};
  return file;
}

}  // namespace

int run_teach(const Command& command, const Arguments& arguments) {
  const PlainOptions options = parse_plain_options(command.name, arguments, command.flags, 1);
  if (options.operands.empty() || !options.has("output"))
    throw UsageError("teach: name the rows and the file to write: ROWS.csv --output KERNEL.ini");
  Catalog catalog;
  OutputFile output(options.value_or("output", ""));
  const TaughtRows taught =
      taught_rows(read_csv(options.operands.front()), options.value_or("gpu", ""), catalog);
  const auto threads = options.count_or("threads", static_cast<int64_t>(threads_of("")));
  const FittedCosts fitted =
      fit_costs(taught.rows, static_cast<size_t>(std::max<int64_t>(1, threads))).begin()->second;
  refuse_contradictions(taught, fitted);

  output.write(profile_text(file_of(taught, fitted),
                            "Written by `sawtooth teach` from " + options.operands.front()));
  output.commit();
  if (options.has("quiet")) return exit_fine;
  std::cout << shape_of(taught) << "\n";
  for (size_t i = 0; i < taught.rows.size(); ++i) {
    const TaughtRow& row = taught.rows[i];
    std::cout << "  " << row.point.text("scan") << ", seq " << row.point.text("seq-kv")
              << (row.inside ? ", inside L2: " : ": ") << fixed(row.time_ns / ns_a_us, 1)
              << " us measured, " << fixed(fitted.predicted_ns[i] / ns_a_us, 1) << " us fitted ("
              << fixed(100 * (fitted.predicted_ns[i] / row.time_ns - 1), 1) << " %)\n";
  }
  std::cout << "step " << fixed(fitted.step_ns.value, 0) << " ns (" << range(fitted.step_ns, 0)
            << "), item " << fixed(fitted.item_ns.value / ns_a_us, 1) << " us ("
            << fixed(fitted.item_ns.low / ns_a_us, 1) << " to "
            << fixed(fitted.item_ns.high / ns_a_us, 1) << "); 90 % intervals\n"
            << sentence(fitted) << "\n";
  return exit_fine;
}

}  // namespace sawtooth::experiments
