#include "experiments/sawtooth/cli/option_words.hpp"

#include "experiments/sawtooth/support/resources.hpp"

namespace sawtooth::experiments {

std::string_view value_name(const OptionSpec& option) {
  switch (option.kind) {
    case OptionKind::count:
    case OptionKind::seed:
      return "N";
    case OptionKind::bytes:
      return "BYTES";
    case OptionKind::choice:
    case OptionKind::name:
      return "NAME";
    case OptionKind::on_off:
      return "on|off";
    case OptionKind::toggle:
      return "";
    case OptionKind::mask:
      return "MASK";
    case OptionKind::section:
      return "N|all|auto:BYTES";
    case OptionKind::part:
      return "N|all";
    case OptionKind::lengths:
      return "LENGTHS";
    case OptionKind::parts:
      return "N|auto";
    case OptionKind::page_table:
      return "TABLE";
    case OptionKind::path:
      return "FILE";
    case OptionKind::share:
    case OptionKind::tolerance:
      return "SHARE";
    case OptionKind::text:
      return "TEXT";
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

std::vector<std::string> listed_values(const OptionSpec& option) {
  if (option.kind == OptionKind::choice) {
    const auto choices = option.allowed();
    return {choices.begin(), choices.end()};
  }
  if (option.kind == OptionKind::on_off) return {"on", "off"};
  if (option.kind == OptionKind::mask) return {"none", "causal", "window:"};
  if (option.key == "gpu") return resource_names("profiles/gpus");
  if (option.key == "system") return resource_names("profiles/systems");
  return {};
}

}  // namespace sawtooth::experiments
