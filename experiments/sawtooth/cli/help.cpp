#include <sstream>

#include "experiments/sawtooth/cli/commands.hpp"
#include "experiments/sawtooth/cli/option_words.hpp"
#include "experiments/sawtooth/support/terminal.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t left_width = 30, narrow_left_width = 6;
constexpr size_t wide_enough = 70;  // below, a text stands under what it explains

// "  left          right", the right side wrapped into its column.
void print_row(std::ostringstream& out, const std::string& left, const std::string& right) {
  const size_t width = line_width();
  const size_t indent = width < wide_enough ? narrow_left_width : left_width;
  std::string line = "  " + wrapped(left, width, narrow_left_width);
  if (line.size() < indent) {
    line.resize(indent, ' ');
  } else if (indent == narrow_left_width || line.size() + right.size() >= width) {
    line.append("\n").append(indent, ' ');
  } else {
    line += ' ';
  }
  out << line << wrapped(right, width, indent) << "\n";
}

void print_text(std::ostringstream& out, std::string_view text) {
  out << "\n" << wrapped(text, line_width(), 0) << "\n";
}

}  // namespace

std::string program_help() {
  std::ostringstream out;
  out << wrapped("sawtooth " SAWTOOTH_VERSION
                 ": the cache locality of GPU attention, predicted, executed, measured",
                 line_width(), 2)
      << "\n\nusage: sawtooth COMMAND [operands] [--key value ...]\n\n";
  for (const Command& command : commands()) {
    const std::string operands(command.operands);
    print_row(out, std::string(command.name) + (operands.empty() ? "" : " " + operands),
              std::string(command.description));
  }
  print_text(out,
             "`sawtooth --csv-header` prints the columns of results.csv, `--version` the version, "
             "`--completion bash|zsh|fish` a completion for that shell, `--man [COMMAND]` a man "
             "page.");
  print_text(out,
             "`sawtooth COMMAND --help` lists a command's options. Every option is also a key of a "
             "configuration (an INI file); the command line comes first, then the configuration, "
             "then the system, then the default. Several values, comma-separated or repeated, are "
             "an axis.");
  print_text(out, "Exit codes: " + std::string(exit_codes));
  return out.str();
}

std::string command_help(const Command& command) {
  std::ostringstream out;
  std::string usage = "usage: sawtooth " + std::string(command.name);
  usage.append(command.operands.empty() ? "" : " ").append(command.operands);
  if (command.options != 0) usage += " [--key value ...]";
  out << wrapped(usage, line_width(), 7) << "\n\n  "
      << wrapped(command.description, line_width(), 2) << "\n";
  for (const GroupTitle& group : group_titles) {
    bool titled = false;
    for (const OptionSpec& option : option_table()) {
      if (option.group != group.group || (option.commands & command.options) == 0) continue;
      if (!titled) out << "\n" << bold(group.title, Output::standard) << "\n";
      titled = true;
      std::string left = "--" + std::string(option.key);
      if (const auto value = value_name(option); !value.empty()) left.append(" ").append(value);
      print_row(out, left, explanation(option));
    }
  }
  if ((command.options & command_simulate) != 0) {
    print_text(out,
               "Several values of a key, comma-separated or repeated, make an axis; the points are "
               "the cross product in the order above, the first key varies slowest. Sizes take K, "
               "M and G (1024, 1024^2, 1024^3), bytes KiB, MiB and GiB. docs/reference/options.md "
               "explains all.");
  }
  return out.str();
}

}  // namespace sawtooth::experiments
