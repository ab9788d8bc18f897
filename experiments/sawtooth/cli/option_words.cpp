#include "experiments/sawtooth/cli/option_words.hpp"

#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

std::string left_of(const PlainOption& option) {
  return "--" + std::string(option.key) + (option.value.empty() ? "" : " ") +
         std::string(option.value);
}

std::string explanation(const OptionSpec& option) {
  std::string text(option.description);
  if (option.kind == OptionKind::choice) text += ": " + join_list(option.allowed());
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
