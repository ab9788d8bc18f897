// sawtooth counters list: the metrics of a chip, without a GPU.
#include <iomanip>
#include <iostream>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/calibrate/stream_figures.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/measure/counter_plan.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

int list_chips() {
  std::cout << "chips with a table of L2 counters (--chip NAME lists its metrics):\n";
  for (const cupti::ChipInfo& chip : cupti::chips_with_table())
    std::cout << "  " << std::left << std::setw(6) << chip.name << " compute capability "
              << std::setw(5) << chip.compute << ' ' << chip.products << '\n';
  std::cout << "chips that the installed CUPTI knows:";
  for (const std::string& chip : cupti::known_chips()) std::cout << ' ' << chip;
  std::cout << '\n';
  return exit_fine;
}

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : lowered(text))
    if (c != ' ' && c != '-') result += c;
  return result;
}

// "h200", "H200 SXM" and "a100-sxm-40gb" are products of the table, in any case.
bool is_product(std::string_view text, std::string_view products) {
  const std::string whole = squeezed(text),
                    head = squeezed(text.substr(0, text.find_first_of("- ")));
  for (const std::string& product : split_list(products)) {
    const std::string name = squeezed(product.substr(0, product.find('(')));
    if (name == whole || name == head) return true;
  }
  return false;
}

/// CUPTI's name of a chip, from it or from a GPU's name.
std::string chip_named(const std::string& text) {
  const std::vector<std::string> names = cupti::known_chips();
  if (const auto found = found_name(text, views_of(names)); !found.empty())
    return std::string(found);
  std::vector<std::string_view> known;
  for (const cupti::ChipInfo& chip : cupti::chips_with_table()) {
    if (is_product(text, chip.products)) return std::string(chip.name);
    known.push_back(chip.name);
  }
  throw UsageError("--chip: '" + text + "' is not known; allowed: " + join_list(known) +
                   " and others of `sawtooth counters list`, or a GPU such as h200" +
                   did_you_mean(text, views_of(names)));
}

int list(const Settings& settings) {
  const std::string given = value_or(settings, "chip", "");
  if (given.empty()) return list_chips();
  const std::string chip = chip_named(given);
  const std::string match = value_or(settings, "match", "");
  const std::vector<cupti::MetricInfo> found = cupti::list_metrics(chip, match);
  for (const cupti::MetricInfo& metric : found)
    std::cout << std::left << std::setw(64) << metric.name << ' ' << std::setw(10) << metric.kind
              << ' ' << std::setw(12) << metric.unit << ' ' << metric.description << '\n';
  if (!match.empty()) return found.empty() ? exit_check_failed : exit_fine;
  std::cout << '\n';
  print_counter_plan(std::cout, plan_counters(chip, stream_counters()));
  return exit_fine;
}

}  // namespace

int run_counters(const Command& command, const Arguments& arguments) {
  const std::string verb = arguments.empty() ? "" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (verb == "dump") return run_counters_dump(command, rest);
  try {
    if (verb == "list") return list(parse_command_line(command, rest, 0).settings);
  } catch (const cupti::CounterError& error) {
    const bool wrong_name = error.status() == cupti::Status::unknown_metric ||
                            error.status() == cupti::Status::chip_unknown ||
                            error.status() == cupti::Status::no_metric_table ||
                            error.status() == cupti::Status::metric_not_schedulable;
    if (wrong_name) throw UsageError(error.what());
    std::cerr << "sawtooth: " << error.what() << '\n';
    return exit_no_device;
  }
  throw UsageError(
      "usage: sawtooth counters list [--chip NAME] [--match TEXT], or sawtooth "
      "counters dump [CONFIG] --metrics a.sum,b.sum [--csv FILE]");
}

}  // namespace sawtooth::experiments
