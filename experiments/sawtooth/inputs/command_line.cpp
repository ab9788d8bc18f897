#include "experiments/sawtooth/inputs/command_line.hpp"

#include <algorithm>

#include <boost/program_options.hpp>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace po = boost::program_options;
using Values = std::vector<std::string>;

po::options_description described_options(const Command& command) {
  po::options_description description;
  for (const OptionSpec& option : option_table()) {
    if ((option.commands & command.options) == 0) continue;
    const std::string key(option.key);
    auto* value = po::value<Values>()->composing();
    if (option.kind == OptionKind::toggle) value->implicit_value(Values{"on"}, "on");
    description.add_options()(key.c_str(), value, "");
  }
  for (const OptionAlias& alias : option_aliases) {
    if ((find_option(alias.key)->commands & command.options) == 0) continue;
    description.add_options()(std::string(alias.name).c_str(), po::value<Values>()->composing(),
                              "");
  }
  return description;
}

// One line, in the words of this program.
std::string explained(const po::error& error, const Command& command) {
  const std::string see = "; see `sawtooth " + std::string(command.name) + " --help`";
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string key = unknown->get_option_name();
    const std::string removal =
        removal_of(std::string_view(key).substr(key.find_first_not_of('-')));
    if (!removal.empty()) return key + ": " + removal;
    return key + ": not an option of " + std::string(command.name) + see +
           did_you_mean(std::string_view(key).substr(std::min<size_t>(2, key.size())),
                        option_names(command.options));
  }
  if (const auto* syntax = dynamic_cast<const po::error_with_option_name*>(&error))
    return syntax->get_option_name() + ": a value is missing or one too many" + see;
  return error.what() + see;
}

po::parsed_options parse(const Command& command, const Arguments& arguments,
                         const po::options_description& description) {
  using namespace po::command_line_style;
  try {
    return po::command_line_parser(arguments)
        .options(description)
        .style(allow_long | long_allow_adjacent | long_allow_next)
        .run();
  } catch (const po::error& error) {
    throw UsageError(explained(error, command));
  }
}

}  // namespace

ParsedCommandLine parse_command_line(const Command& command, const Arguments& arguments,
                                     size_t most_operands) {
  const po::options_description description = described_options(command);
  ParsedCommandLine parsed;
  for (const auto& option : parse(command, arguments, description).options) {
    if (option.position_key >= 0) {
      const std::string& operand = option.value.front();
      if (operand.starts_with('-') && operand != "-")
        throw UsageError(operand + ": options have two dashes; see `sawtooth " +
                         std::string(command.name) + " --help`");
      note_input(operand);  // before an output takes its name, or one beside it
      parsed.operands.push_back(operand);
      continue;
    }
    assign(parsed.settings, option.string_key, option.value.empty() ? "on" : option.value.front(),
           {});
  }
  if (parsed.operands.size() > most_operands)
    throw UsageError("'" + parsed.operands[most_operands] + "' is one operand too many; usage: " +
                     "sawtooth " + std::string(command.name) + " " + std::string(command.operands));
  return parsed;
}

SweepArguments sweep_arguments(Configuration configuration, Settings command_line) {
  SweepArguments given{std::move(command_line), std::move(configuration), {}, {}};
  given.outputs = output_settings(given.configuration, given.command_line);
  const std::string& path = given.configuration.path;
  given.experiment =
      value_or(given.outputs, "experiment", path.empty() ? "command-line" : stem_of(path));
  return given;
}

std::string name_of_files(const SweepArguments& given) {
  const std::string& name = given.experiment;
  if (name.find('/') != std::string::npos || name == "." || name == "..")
    throw UsageError("experiment: '" + name +
                     "' is no name of a file or folder; allowed: no '/', not '.' or '..'");
  return name;
}

SweepArguments parse_sweep_arguments(const Command& command, const Arguments& arguments) {
  ParsedCommandLine parsed = parse_command_line(command, arguments, 1);
  return sweep_arguments(
      parsed.operands.empty() ? empty_configuration() : read_configuration(parsed.operands.front()),
      std::move(parsed.settings));
}

}  // namespace sawtooth::experiments
