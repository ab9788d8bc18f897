#include "experiments/studies/ladder/options.hpp"

#include <charconv>
#include <sstream>

#include <boost/program_options.hpp>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/ladder/ladder.hpp"

namespace sawtooth::experiments::ladder {
namespace {

namespace po = boost::program_options;

po::options_description described() {
  po::options_description options("ladder [LEVEL ...] [--key value ...]");
  options.add_options()("help", "show this");
  options.add_options()("level", po::value<std::vector<std::string>>()->composing(),
                        "1 to 5, all when left out");
  options.add_options()("batch", po::value<std::string>()->default_value("2"), "sequences");
  options.add_options()("heads", po::value<std::string>()->default_value("8"), "heads");
  options.add_options()("seq", po::value<std::string>()->default_value("1024"),
                        "length, a multiple of 64");
  options.add_options()("dtype", po::value<std::string>()->default_value("fp16"), "fp16 or bf16");
  options.add_options()("repetitions", po::value<std::string>()->default_value("20"),
                        "timed launches of every level");
  options.add_options()("check-tiles", po::value<std::string>()->default_value("16"),
                        "Q tiles of the output compared with the reference");
  options.add_options()("seed", po::value<std::string>()->default_value("1"), "of the inputs");
  options.add_options()("no-counters", po::bool_switch(), "times only");
  options.add_options()("csv", po::value<std::string>(), "also write the table to this file");
  return options;
}

int64_t whole_number(const po::variables_map& given, const std::string& key, int64_t low,
                     int64_t high) {
  const std::string& text = given[key].as<std::string>();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    throw UsageError("--" + key + ": '" + text + "' is not a whole number from " +
                     std::to_string(low) + " to " + std::to_string(high));
  return value;
}

std::vector<int> chosen_levels(const po::variables_map& given) {
  std::vector<int> levels;
  for (const auto& level : kernels::ladder::levels()) {
    const std::string name = std::to_string(level.number);
    if (!given.count("level")) {
      levels.push_back(level.number);
      continue;
    }
    for (const std::string& text : given["level"].as<std::vector<std::string>>())
      if (text == name) {
        levels.push_back(level.number);
        break;
      }
  }
  if (given.count("level"))
    for (const std::string& text : given["level"].as<std::vector<std::string>>())
      if (text.size() != 1 || text[0] < '1' ||
          text[0] > '0' + char(kernels::ladder::levels().size()))
        throw UsageError("level '" + text + "' is none of 1 to " +
                         std::to_string(kernels::ladder::levels().size()));
  return levels;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  // Bounds beyond which a value is a typing error, not an experiment.
  constexpr int64_t most_heads = 65535, most_rows = int64_t{1} << 24, most_repetitions = 100000;
  po::variables_map given;
  try {
    po::positional_options_description operands;
    operands.add("level", -1);
    po::store(
        po::command_line_parser(argc, argv)
            .options(described())
            .positional(operands)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run(),
        given);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; see ladder --help");
  }
  Options options;
  options.help = given.count("help") > 0;
  options.levels = chosen_levels(given);
  const std::string& dtype = given["dtype"].as<std::string>();
  if (dtype != "fp16" && dtype != "bf16")
    throw UsageError("--dtype: '" + dtype + "' is none of fp16, bf16");
  options.problem.dtype = dtype == "fp16" ? ElementType::fp16 : ElementType::bf16;
  options.problem.head_dim = kernels::ladder::head_dim;
  options.problem.batch = whole_number(given, "batch", 1, most_heads);
  options.problem.heads = options.problem.kv_heads = whole_number(given, "heads", 1, most_heads);
  options.problem.seq_q = options.problem.seq_kv = whole_number(given, "seq", 1, most_rows);
  options.repetitions = int(whole_number(given, "repetitions", 1, most_repetitions));
  options.check_tiles = whole_number(given, "check-tiles", 1, most_rows);
  options.seed = uint64_t(whole_number(given, "seed", 0, INT64_MAX));
  options.read_counters = !given["no-counters"].as<bool>();
  if (given.count("csv")) options.csv = given["csv"].as<std::string>();
  const std::string reason = kernels::ladder::refusal(options.levels.front(), options.problem);
  if (!reason.empty()) throw UsageError(reason);
  return options;
}

std::string usage() {
  std::ostringstream text;
  text << described();
  return text.str();
}

}  // namespace sawtooth::experiments::ladder
