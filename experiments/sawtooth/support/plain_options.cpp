#include "experiments/sawtooth/support/plain_options.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {

int64_t PlainOptions::count_or(std::string_view key, int64_t otherwise) const {
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  try {
    return parse_count(found->second);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--" + std::string(key) + ": " + error.what() +
                     "; allowed: whole numbers from 0 on");
  }
}

PlainOptions parse_plain_options(std::string_view command, const std::vector<std::string>& words,
                                 std::span<const PlainOption> known, size_t most_operands) {
  PlainOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      if (options.operands.size() == most_operands)
        throw UsageError("'" + word + "' is one operand too many; see `sawtooth " +
                         std::string(command) + " --help`");
      note_input(word);  // before an output takes its name, or one beside it
      options.operands.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const std::string key = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const auto option = std::ranges::find(known, key, &PlainOption::key);
    if (option == known.end() || (option->value.empty() && equals != std::string::npos)) {
      std::vector<std::string_view> names;
      for (const PlainOption& one : known) names.push_back(one.key);
      throw UsageError("'--" + key + "' is no option of " + std::string(command) + "; allowed: --" +
                       join_list(names, " --") + did_you_mean(key, names));
    }
    if (option->value.empty()) {
      options.values[key] = "on";
      continue;
    }
    if (equals == std::string::npos && i + 1 == words.size())
      throw UsageError("--" + key + ": a value is missing");
    options.values[key] = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
  }
  return options;
}

std::vector<std::string> metric_list(std::string_view text) {
  std::vector<std::string> names = split_list(text);
  std::erase(names, "");
  if (names.empty())
    throw UsageError(
        "--metrics: name at least one metric with its rollup, such as "
        "lts__t_sectors.sum; `sawtooth counters list --chip NAME` lists them");
  return names;
}

}  // namespace sawtooth::experiments
