// The same words for people at a terminal and, in roff, for man.
#include "experiments/sawtooth/cli/help.hpp"

#include <sstream>
#include <utility>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr const char* program_line =
    "the cache locality of GPU attention, predicted, executed, measured";

// Names of the groups, in their order.
constexpr std::string_view group_titles[] = {
    "Problem", "Schedule (h100, h200: a plain call's, until one of these is named: then mma's)",
    "Where it runs", "Model", "Output"};
constexpr std::string_view own_title = "Options";

constexpr std::string_view exit_codes =
    "0 fine, 1 a check failed, 2 wrong usage, 3 device or counters not available.";

// What it means, its values and its default.
std::string explanation(const OptionSpec& option) {
  std::string text(option.description);
  if (option.kind == OptionKind::choice) text += ": " + join_list(option.allowed());
  if (option.kind == OptionKind::mask)
    text += ": none, causal, window:W[+sink:N], prefix-lm:N, document:LENGTHS, blocks:FILE";
  const bool says_default = !option.default_text.empty() && option.kind != OptionKind::toggle;
  if (says_default) text += " (default: " + std::string(option.default_text) + ")";
  return text;
}

constexpr size_t left_width = 30, narrow_left_width = 6;
constexpr size_t wide_enough = 70;  // below, a text stands under what it explains

// "  left          right", the right side wrapped into its column.
void print_row(std::ostringstream& out, const std::string& left, const std::string& right) {
  const size_t width = line_width();
  const size_t indent = width < wide_enough ? narrow_left_width : left_width;
  std::string line = "  " + wrapped(left, width, narrow_left_width);
  if (line.size() < indent)
    line.resize(indent, ' ');
  else if (indent == narrow_left_width || line.size() + right.size() >= width)
    line.append("\n").append(indent, ' ');
  else
    line += ' ';
  out << line << wrapped(right, width, indent) << "\n";
}

void print_text(std::ostringstream& out, std::string_view text) {
  out << "\n" << wrapped(text, line_width(), 0) << "\n";
}

/// Text of a page: a hyphen stays one, and no line begins a request.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool first = result.empty() || result.back() == '\n';
    if (first && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string roff_end(const Command& command) {
  return ".SH EXAMPLE\n" + roff("sawtooth " + std::string(command.name) + " ") +
         roff(command.example) + "\n.SH EXIT STATUS\n" + roff(exit_codes) + "\n";
}

void print_head(std::ostringstream& out, const std::string& name, std::string_view says) {
  out << ".TH " << name << " 1 \"\" \"sawtooth " SAWTOOTH_VERSION "\"\n"
      << ".SH NAME\n"
      << roff(name) << " \\- " << roff(says) << "\n.SH SYNOPSIS\n";
}

}  // namespace

void for_each_option(const Command& command, const OptionFunction& function) {
  for (const PlainOption& own : command.flags) {
    OptionSpec option;
    option.key = own.key;
    option.description = own.description;
    option.kind = own.value == "FILE"   ? OptionKind::path
                  : own.value == "NAME" ? OptionKind::name
                  : own.value.empty()   ? OptionKind::toggle
                                        : OptionKind::text;
    function(own_title, option, own.value);
  }
  for (const OptionSpec& option : option_table())
    if ((option.commands & command.options) != 0)
      function(group_titles[static_cast<size_t>(option.group)], option, value_name(option));
}

std::string program_help() {
  std::ostringstream out;
  out << wrapped(std::string("sawtooth " SAWTOOTH_VERSION ": ") + program_line, line_width(), 2)
      << "\n\nusage: sawtooth COMMAND [operands] [--key value ...]\n\n";
  for (const Command& command : command_table) {
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
  std::string_view before;
  for_each_option(command, [&](std::string_view title, const OptionSpec& option, auto value) {
    if (std::exchange(before, title) != title)
      out << "\n" << bold(wrapped(std::string(title), line_width(), 2), Output::standard) << "\n";
    std::string left = "--" + std::string(option.key);
    if (!value.empty()) left.append(" ").append(value);
    print_row(out, left, explanation(option));
  });
  if ((command.options & command_simulate) != 0)
    print_text(out,
               "Several values of a key, comma-separated or repeated, make an axis; the points are "
               "the cross product in the order above, the first key varies slowest. Sizes take K, "
               "M and G (1024, 1024^2, 1024^3), bytes KiB, MiB and GiB. docs/reference/options.md "
               "explains all.");
  out << "\n"
      << bold("Example", Output::standard) << "\n  "
      << wrapped("sawtooth " + std::string(command.name) + " " + std::string(command.example),
                 line_width(), narrow_left_width)
      << "\n";
  return out.str();
}

std::string man_page(std::string_view name) {
  std::ostringstream out;
  if (name.empty()) {
    print_head(out, "sawtooth", program_line);
    out << "\\fBsawtooth\\fR \\fICOMMAND\\fR [operands] [\\-\\-key value ...]\n.SH COMMANDS\n";
    for (const Command& command : command_table)
      out << ".TP\n\\fB" << command.name << "\\fR " << roff(command.operands) << "\n"
          << roff(command.description) << "; see sawtooth\\-" << command.name << "(1)\n";
    return out.str() + roff_end(command_table[0]);
  }
  for (const Command& command : command_table) {
    if (command.name != name) continue;
    print_head(out, "sawtooth-" + std::string(name), command.description);
    out << "\\fBsawtooth " << name << "\\fR " << roff(command.operands)
        << (command.options == 0 ? "" : " [\\-\\-key value ...]") << "\n";
    std::string_view before;
    for_each_option(command, [&](std::string_view title, const OptionSpec& option, auto value) {
      if (std::exchange(before, title) != title) out << ".SH " << title << "\n";
      out << ".TP\n\\fB\\-\\-" << roff(option.key);
      if (!value.empty()) out << (title == own_title ? " " : "\\fR \\fI") << roff(value);
      out << "\\fR\n" << roff(explanation(option)) << "\n";
    });
    return out.str() + roff_end(command);
  }
  throw UsageError("--man: '" + std::string(name) + "' is no command");
}

}  // namespace sawtooth::experiments
