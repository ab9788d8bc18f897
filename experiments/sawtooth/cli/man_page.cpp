#include <sstream>

#include "experiments/sawtooth/cli/commands.hpp"
#include "experiments/sawtooth/cli/option_words.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

/// Text of a page: a hyphen stays one, and no line begins a request.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool first = result.empty() || result.back() == '\n';
    if (first && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

void print_head(std::ostringstream& out, const std::string& name, std::string_view says) {
  out << ".TH " << name << " 1 \"\" \"sawtooth " SAWTOOTH_VERSION "\"\n"
      << ".SH NAME\n"
      << roff(name) << " \\- " << roff(says) << "\n.SH SYNOPSIS\n";
}

void print_options(std::ostringstream& out, const Command& command) {
  for (const GroupTitle& group : group_titles) {
    bool titled = false;
    for (const OptionSpec& option : option_table()) {
      if (option.group != group.group || (option.commands & command.options) == 0) continue;
      if (!titled) out << ".SH " << group.title << "\n";
      titled = true;
      out << ".TP\n\\fB\\-\\-" << roff(option.key) << "\\fR";
      if (const auto value = value_name(option); !value.empty()) {
        out << " \\fI" << roff(value) << "\\fR";
      }
      out << "\n" << roff(explanation(option)) << "\n";
    }
  }
}

void print_end(std::ostringstream& out) {
  out << ".SH EXIT STATUS\n" << roff(exit_codes) << "\n";
}

}  // namespace

std::string man_page(std::string_view name) {
  std::ostringstream out;
  if (name.empty()) {
    print_head(out, "sawtooth",
               "the cache locality of GPU attention, predicted, executed, measured");
    out << "\\fBsawtooth\\fR \\fICOMMAND\\fR [operands] [\\-\\-key value ...]\n.SH COMMANDS\n";
    for (const Command& command : commands()) {
      out << ".TP\n\\fB" << command.name << "\\fR " << roff(command.operands) << "\n"
          << roff(command.description) << "; see sawtooth\\-" << command.name << "(1)\n";
    }
    print_end(out);
    return out.str();
  }
  for (const Command& command : commands()) {
    if (command.name != name) continue;
    print_head(out, "sawtooth-" + std::string(name), command.description);
    out << "\\fBsawtooth " << name << "\\fR " << roff(command.operands)
        << (command.options == 0 ? "" : " [\\-\\-key value ...]") << "\n";
    print_options(out, command);
    print_end(out);
    return out.str();
  }
  throw UsageError("--man: '" + std::string(name) + "' is no command");
}

}  // namespace sawtooth::experiments
