#include "experiments/studies/speed/ladder/options.hpp"

#include <set>
#include <sstream>
#include <stdexcept>

#include <boost/program_options.hpp>

#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"
#include "kernels/ladder/ladder.hpp"

namespace sawtooth::experiments::ladder {
namespace {

namespace po = boost::program_options;

po::options_description described() {
  po::options_description options("ladder [LEVEL ...] [--key value ...]");
  const auto preset = [](const char* text) {
    return po::value<std::string>()->default_value(text);
  };
  auto add = options.add_options();
  add("help", "show this");
  add("level", po::value<std::vector<std::string>>()->composing(), "1 to 5, all when left out");
  add("batch", preset("2"), "sequences");
  add("heads", preset("8"), "heads");
  add("seq", preset("1024"), "length, a multiple of 64");
  add("dtype", preset("fp16"), "fp16 or bf16");
  add("repetitions", preset("20"), "timed launches of every level");
  add("no-counters", po::bool_switch(), "times only");
  add("csv", preset(""), "also write the table to this file");
  return options;
}

int64_t whole_number(const po::variables_map& given, const std::string& key, int64_t low,
                     int64_t high) {
  const std::string& text = given[key].as<std::string>();
  try {
    const int64_t value = parse_count(text);
    if (value >= low && value <= high) return value;
  } catch (const std::invalid_argument&) {
  }
  throw UsageError("--" + key + ": '" + text + "' is not a whole number from " +
                   std::to_string(low) + " to " + std::to_string(high));
}

std::vector<int> chosen_levels(const po::variables_map& given) {
  const int last = int(kernels::ladder::levels().size());
  std::set<int> chosen;
  std::vector<std::string> texts;
  if (given.count("level"))
    texts = given["level"].as<std::vector<std::string>>();
  else
    for (int level = 1; level <= last; ++level) texts.push_back(std::to_string(level));
  for (const std::string& text : texts) {
    const int level = text.size() == 1 ? text[0] - '0' : 0;
    if (level < 1 || level > last)
      throw UsageError("level '" + text + "' is none of 1 to " + std::to_string(last));
    chosen.insert(level);
  }
  return {chosen.begin(), chosen.end()};
}

po::variables_map parsed(int argc, const char* const* argv) {
  po::variables_map given;
  po::positional_options_description operands;
  operands.add("level", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const auto options = described();
  try {
    po::command_line_parser parser(argc, argv);
    po::store(parser.options(options).positional(operands).style(style).run(), given);
  } catch (const po::error& error) {
    throw UsageError(std::string(error.what()) + "; see ladder --help");
  }
  return given;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  // Bounds beyond which a value is a typing error, not an experiment.
  constexpr int64_t most_heads = 65535, most_rows = int64_t{1} << 24, most_repetitions = 100000;
  const po::variables_map given = parsed(argc, argv);
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
  options.read_counters = !given["no-counters"].as<bool>();
  options.csv = given["csv"].as<std::string>();
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
