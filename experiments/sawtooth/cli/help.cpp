#include <algorithm>
#include <sstream>

#include "experiments/sawtooth/cli/commands.hpp"

namespace sawtooth::experiments {
namespace {

constexpr size_t left_width = 30;
constexpr size_t line_width = 100;

struct GroupTitle {
  OptionGroup group;
  std::string_view title;
};
constexpr GroupTitle group_titles[] = {
    {OptionGroup::problem, "Problem"},     {OptionGroup::schedule, "Schedule"},
    {OptionGroup::where, "Where it runs"}, {OptionGroup::model, "Model"},
    {OptionGroup::output, "Output"},
};

// "  left          right", the right side wrapped into its column.
void print_row(std::ostringstream& out, const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  line.resize(std::max(left_width, line.size() + 1), ' ');
  std::istringstream words(right);
  for (std::string word; words >> word;) {
    if (line.size() + word.size() + 1 > line_width) {
      out << line << "\n";
      line.assign(left_width, ' ');
    }
    if (line.back() != ' ') line += ' ';
    line += word;
  }
  out << line << "\n";
}

std::string value_name(const OptionSpec& option) {
  switch (option.kind) {
    case OptionKind::count:
    case OptionKind::seed:
      return " N";
    case OptionKind::bytes:
      return " BYTES";
    case OptionKind::choice:
    case OptionKind::name:
      return " NAME";
    case OptionKind::on_off:
      return " on|off";
    case OptionKind::toggle:
      return "";
    case OptionKind::mask:
      return " MASK";
    case OptionKind::section:
      return " N|all|auto:BYTES";
    case OptionKind::path:
      return " FILE";
    case OptionKind::share:
    case OptionKind::tolerance:
      return " SHARE";
    case OptionKind::text:
      return " TEXT";
  }
  return "";
}

std::string explanation(const OptionSpec& option) {
  std::string text(option.description);
  if (option.kind == OptionKind::choice) {
    text += ":";
    for (const std::string_view choice : option.allowed()) {
      text += (text.back() == ':' ? " " : ", ") + std::string(choice);
    }
  }
  if (option.kind == OptionKind::mask) text += ": none, causal, window:W";
  const bool says_default = !option.default_text.empty() && option.kind != OptionKind::toggle;
  if (says_default) text += " (default: " + std::string(option.default_text) + ")";
  return text;
}

}  // namespace

std::string program_help() {
  std::ostringstream out;
  out << "sawtooth " << SAWTOOTH_VERSION
      << ": the cache locality of GPU attention, predicted, executed, measured\n\n"
         "usage: sawtooth COMMAND [operands] [--key value ...]\n\n";
  for (const Command& command : commands()) {
    const std::string operands(command.operands);
    print_row(out, std::string(command.name) + (operands.empty() ? "" : " " + operands),
              std::string(command.description));
  }
  out << "\n`sawtooth --csv-header` prints the columns of results.csv, `sawtooth --version` the "
         "version.\n"
         "`sawtooth COMMAND --help` lists a command's options. Every option is also a key of a\n"
         "configuration (an INI file); the command line comes first, then the configuration, then\n"
         "the system, then the default. Several values, comma-separated or repeated, are an axis.\n"
         "Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 device or counters not "
         "available.\n";
  return out.str();
}

std::string command_help(const Command& command) {
  std::ostringstream out;
  out << "usage: sawtooth " << command.name << (command.operands.empty() ? "" : " ")
      << command.operands << (command.options == 0 ? "" : " [--key value ...]") << "\n\n  "
      << command.description << "\n";
  for (const GroupTitle& group : group_titles) {
    bool titled = false;
    for (const OptionSpec& option : option_table()) {
      if (option.group != group.group || (option.commands & command.options) == 0) continue;
      if (!titled) out << "\n" << group.title << "\n";
      titled = true;
      print_row(out, "--" + std::string(option.key) + value_name(option), explanation(option));
    }
  }
  if ((command.options & command_simulate) != 0) {
    out << "\nSeveral values of a key, comma-separated or repeated, make an axis; the points are "
           "the\n"
           "cross product in the order above, the first key varies slowest. Sizes take K, M and G\n"
           "(1024, 1024^2, 1024^3), bytes KiB, MiB and GiB. docs/reference/options.md explains "
           "all.\n";
  }
  return out.str();
}

}  // namespace sawtooth::experiments
