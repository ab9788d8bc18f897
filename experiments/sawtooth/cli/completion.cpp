#include <sstream>

#include "experiments/sawtooth/cli/help.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

// Values that can be listed: choices, on and off, names of GPUs and systems.
std::vector<std::string> listed_values(const OptionSpec& option) {
  if (option.kind == OptionKind::choice) {
    const auto choices = option.allowed();
    return {choices.begin(), choices.end()};
  }
  if (option.kind == OptionKind::on_off) return {"on", "off"};
  if (option.kind == OptionKind::mask)
    return {"none", "causal", "window:", "prefix-lm:", "document:", "blocks:"};
  if (option.key == "gpu") return resource_names("profiles/gpus");
  if (option.key == "system") return resource_names("profiles/systems");
  return {};
}

// What may stand first behind these commands: names, or for plot a command that lists its figures.
constexpr const char* figures = "$(sawtooth plot --list | sed -n \"s/^  \\([a-z_]*\\)  .*/\\1/p\")";
std::string operands_of(const Command& command) {
  if (command.name == "gpus") return join_list(resource_names("profiles/gpus"), " ");
  if (command.name == "systems") return join_list(resource_names("profiles/systems"), " ");
  return command.name == "plot" ? figures : "";
}

std::string command_names() {
  return join_list(command_table, " ", &Command::name);
}

std::string bash() {
  std::ostringstream out;
  out << "_sawtooth() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=''\n"
         "  local list=${word##*,} begun=''\n"
         "  [[ $word == *,* ]] && begun=${word%,*},\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '"
      << command_names()
      << "' -- \"$word\")\n    return\n  fi\n"
         "  if ((COMP_CWORD == 2)); then\n    case $before in\n";
  for (const Command& command : command_table)
    if (const std::string names = operands_of(command); !names.empty())
      out << "      " << command.name << ") mapfile -t COMPREPLY < <(compgen -W \"" << names
          << "\" -- \"$word\"); return ;;\n";
  out << "    esac\n  fi\n  case $before in\n";
  for (const OptionSpec& option : option_table()) {
    const std::string values = join_list(listed_values(option), " ");
    if (values.empty()) continue;
    out << "    --" << option.key << ") mapfile -t COMPREPLY < <(compgen -P \"$begun\" -W '"
        << values << "' -- \"$list\"); return ;;\n";
  }
  out << "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const Command& command : command_table) {
    out << "    " << command.name << ") options='";
    for_each_option(
        command, [&](auto, const OptionSpec& option, auto) { out << "--" << option.key << ' '; });
    out << "--help' ;;\n";
  }
  out << "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _sawtooth sawtooth\n";
  return out.str();
}

std::string zsh() {
  std::ostringstream out;
  out << "#compdef sawtooth\n_sawtooth() {\n  local -a commands\n  commands=(\n";
  for (const Command& command : command_table)
    out << "    '" << command.name << ':' << within_quotes(command.description, ":\\") << "'\n";
  out << "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const Command& command : command_table) {
    const std::string names = operands_of(command);
    out << "    " << command.name << ")\n      _arguments "
        << (names.empty() ? "" : "\"1:name:(" + names + ")\" ") << "'*:file:_files'";
    for_each_option(command, [&](auto, const OptionSpec& option, auto) {
      out << " \\\n        '*--" << option.key << '[' << within_quotes(option.description, "[]\\")
          << ']';
      const std::string values = join_list(listed_values(option), " ");
      if (option.kind == OptionKind::path)
        out << ":file:_files";
      else if (!values.empty())
        out << ":value:(" << within_quotes(values, ":") << ')';
      else if (option.kind != OptionKind::toggle)
        out << ":value:";
      out << '\'';
    });
    out << "\n      ;;\n";
  }
  out << "  esac\n}\n_sawtooth \"$@\"\n";
  return out.str();
}

std::string fish() {
  std::ostringstream out;
  for (const Command& command : command_table) {
    if (std::string names = operands_of(command); !names.empty()) {
      if (names.starts_with('$')) names.erase(0, 1);  // fish has (COMMAND)
      out << "complete -c sawtooth -f -n '__fish_seen_subcommand_from " << command.name << "' -a '"
          << names << "'\n";
    }
    out << "complete -c sawtooth -f -n __fish_use_subcommand -a " << command.name << " -d '"
        << within_quotes(command.description, "\\") << "'\n";
    for_each_option(command, [&](auto, const OptionSpec& option, auto) {
      out << "complete -c sawtooth -n '__fish_seen_subcommand_from " << command.name << "' -l "
          << option.key;
      const std::string values = join_list(listed_values(option), " ");
      if (option.kind == OptionKind::path)
        out << " -r";
      else if (option.kind != OptionKind::toggle)
        out << " -x";
      if (!values.empty()) out << " -a '" << values << '\'';
      out << " -d '" << within_quotes(option.description, "\\") << "'\n";
    });
  }
  return out.str();
}

}  // namespace

std::string completion(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  if (shell == "fish") return fish();
  throw UsageError("--completion: '" + std::string(shell) +
                   "' is not allowed; allowed: bash, zsh, fish");
}

}  // namespace sawtooth::experiments
