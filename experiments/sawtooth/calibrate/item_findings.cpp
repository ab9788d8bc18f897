#include "experiments/sawtooth/calibrate/item_findings.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/finding_parts.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

void add_finding(std::vector<Parameter>& parameters, std::string key, double value, int decimals,
                 std::string note) {
  parameters.push_back(
      {std::move(key), fixed(value, decimals), "measured", "records of items: " + note, 0});
}

std::vector<Parameter>& kernel_findings(ItemFindings& found, const std::string& section) {
  const auto known = std::ranges::find(found.kernels, section, &ProfileSection::name);
  if (known != found.kernels.end()) return known->parameters;
  return found.kernels.emplace_back(ProfileSection{section, {}, 0}).parameters;
}

std::vector<Parameter>& kernel_findings(ItemFindings& found, const KernelShape& kernel) {
  return kernel_findings(found, kernel_section(kernel.head_dim, kernel.tiling));
}

ItemFindings findings_of(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu,
                         double item_ns) {
  const RecordedSms sms(launches, gpu, item_ns);
  const Launches lone =
      sms.select([&](const RecordedLaunch& l) { return sms.is_lone(l) && l.is_steady(); });
  if (lone.empty())
    throw std::invalid_argument("no launch of " + std::to_string(sms.count()) +
                                " persistent CTAs, one an SM, without a mask and with items of "
                                "at least " +
                                std::to_string(long_steps) + " steps");
  ItemFindings found;
  found.die.name = "die";
  add_start_spread(sms, found, lone);
  add_halves(sms, found);
  add_speeds(sms, found, lone);
  add_step_costs(sms, found);
  add_jitter(sms, found, lone);
  add_tpc_spreads(sms, found);
  add_biases(sms, found);
  add_prefetch_costs(sms, found);
  add_items(sms, found);
  return found;
}

}  // namespace sawtooth::experiments
