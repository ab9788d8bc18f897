#include <algorithm>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/teach/fit_costs.hpp"

namespace sawtooth::experiments {

std::string range(const Estimate& estimate, int decimals) {
  return fixed(estimate.low, decimals) + " to " + fixed(estimate.high, decimals);
}

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

namespace {

double exposure_error(const FittedCosts& fitted) {
  constexpr double most = 10;
  const Estimate& miss = fitted.miss_ns;
  return miss.value > 0 ? std::min(most, (miss.high - miss.low) / 2 / miss.value) : 0;
}

Parameter parameter(std::string key, std::string value, std::string note) {
  return {std::move(key), std::move(value), "measured", std::move(note)};
}

}  // namespace

std::vector<Parameter> parameters_of(const FittedCosts& fitted, const std::string& from) {
  const sim::KernelCost& cost = fitted.cost;
  const std::string exposure = fixed(fitted.exposed.value, 2) + " (" + range(fitted.exposed, 2) +
                               ") DRAM latencies of K and of V exposed";
  std::vector<Parameter> parameters{
      parameter("step-ns", fixed(*cost.step_ns, 2),
                from + "; a CTA's step of near tiles takes " + fixed(fitted.step_ns.value, 1) +
                    " ns (" + range(fitted.step_ns, 1) + ")"),
      parameter("fixed-ns", "0", from + "; in step-ns"),
      parameter("exposed-ns", fixed(cost.exposed_ns, 2),
                fitted.tells_sharing ? from + "; of a lone CTA beyond step-ns"
                                     : from + "; not told from step-ns: needs rows of one and of "
                                              "several CTAs an SM"),
      parameter("age-bias", shortest(cost.age_bias), from + "; not told from durations"),
      parameter("keep-step", cost.keep_step ? "on" : "off",
                from + "; whether CTAs of an SM take turns"),
      parameter("item-begin-ns", "0", from + "; in item-end-ns"),
      parameter("item-end-ns", fixed(cost.item_end_ns, 0),
                from + "; " + range(fitted.item_ns, 0) + " ns"),
      parameter("item-spread-ns", "0", from + "; not told from durations"),
      parameter("lead-k-steps", fixed(*cost.lead_k_steps, 4), from + "; " + exposure),
      parameter("lead-v-steps", fixed(*cost.lead_v_steps, 4),
                from + "; as K's, from which durations do not tell it"),
      parameter("waits-a-tile", fixed(cost.waits_a_tile, 4), from + "; " + exposure),
      parameter("exposure-error", fixed(exposure_error(fitted), 3),
                from + "; half of the 90 % interval of what a miss costs, as a share of it")};
  if (cost.power_slowness > 0)
    parameters.push_back(parameter("power-slowness", fixed(cost.power_slowness, 4),
                                   from + "; from its longest launch"));
  return parameters;
}

}  // namespace sawtooth::experiments
