#include <algorithm>
#include <iostream>

#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/thread_crew.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

namespace sawtooth::experiments {
namespace {

std::string range(const Estimate& estimate, int decimals) {
  return fixed(estimate.low, decimals) + " to " + fixed(estimate.high, decimals);
}

// What the kernel is: shape and mask that its costs are of.
std::string shape_of(const TaughtRows& taught) {
  const Point& point = taught.rows.front().point;
  return (taught.kernel.empty() ? "a kernel" : one_line(taught.kernel)) + ", head dim " +
         point.text("head-dim") + ", tiles " + point.text("tile-q") + "x" + point.text("tile-kv") +
         ", mask " + point.text("mask") + ", on " + point.gpu.name;
}

// Whether K and V come in time, in words.
std::string sentence(const FittedCosts& fitted) {
  const double lead = *fitted.cost.lead_k_steps;
  const std::string miss = fixed(fitted.miss_ns.value, 0) + " ns (" + range(fitted.miss_ns, 0) +
                           "), " + fixed(100 * fitted.miss_ns.value / fitted.step_ns.value, 0) +
                           " % of a step";
  constexpr double not_told_from_0 = 0.1;
  if (fitted.exposed.value < not_told_from_0)
    return "It asks for K and V early enough to hide DRAM's latency: a step whose tiles miss takes "
           "hardly longer, " +
           miss + ". No order changes its time by latency.";
  if (fitted.exposed.value < 1)
    return "It asks for K and V " + fixed(lead, 2) + " steps ahead: exposed to " +
           fixed(100 * fitted.exposed.value, 0) +
           " % of DRAM's latency. A step whose tiles miss "
           "takes longer by " +
           miss + ".";
  return "It asks for K and V when it needs them: exposed to all of DRAM's latency, " +
         fixed(fitted.exposed.value, 1) +
         " times a tile. A step whose tiles miss takes longer by " + miss + ".";
}

double exposure_error(const FittedCosts& fitted) {
  constexpr double most = 10;
  const Estimate& miss = fitted.miss_ns;
  return miss.value > 0 ? std::min(most, (miss.high - miss.low) / 2 / miss.value) : 0;
}

Parameter parameter(std::string key, std::string value, std::string note) {
  return {std::move(key), std::move(value), "measured", std::move(note)};
}

ProfileFile file_of(const TaughtRows& taught, const FittedCosts& fitted) {
  const sim::KernelCost& cost = fitted.cost;
  const std::string from = "sawtooth teach, " + std::to_string(taught.rows.size()) + " durations";
  ProfileFile file;
  file.words = {{"description", "costs of " + shape_of(taught), "", ""}};
  const std::string exposure = fixed(fitted.exposed.value, 2) + " (" + range(fitted.exposed, 2) +
                               ") DRAM latencies of K and of V exposed";
  file.sections = {
      {"kernel", {}},
      {std::string(every_kernel),
       {parameter("step-ns", fixed(*cost.step_ns, 2),
                  from + "; a CTA's step of near tiles takes " + fixed(fitted.step_ns.value, 1) +
                      " ns (" + range(fitted.step_ns, 1) + ")"),
        parameter("fixed-ns", "0", from + "; in step-ns"),
        parameter("exposed-ns", fixed(cost.exposed_ns, 2),
                  fitted.tells_sharing ? from + "; of a lone CTA beyond step-ns"
                                       : from + "; not told from step-ns: needs rows of one and of "
                                                "several CTAs an SM"),
        parameter("age-bias", "0", from + "; not told from durations"),
        parameter("keep-step", cost.keep_step ? "on" : "off", from + "; CTAs of an SM take turns"),
        parameter("item-begin-ns", "0", from + "; in item-end-ns"),
        parameter("item-end-ns", fixed(cost.item_end_ns, 0),
                  from + "; " + range(fitted.item_ns, 0) + " ns"),
        parameter("item-spread-ns", "0", from + "; not told from durations"),
        parameter("lead-k-steps", fixed(*cost.lead_k_steps, 4), from + "; " + exposure),
        parameter("lead-v-steps", fixed(*cost.lead_v_steps, 4),
                  from + "; as K's, from which durations do not tell it"),
        parameter("waits-a-tile", fixed(cost.waits_a_tile, 4), from + "; " + exposure),
        parameter("exposure-error", fixed(exposure_error(fitted), 3),
                  from + "; half of the 90 % interval of what a miss costs, as a share of it")}}};
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
  const FittedCosts fitted = fit_costs(taught, static_cast<size_t>(std::max<int64_t>(1, threads)));

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
