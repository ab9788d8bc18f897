// Options of commands that read launches of other programs: they describe no point of a sweep, so
// they are no keys of configurations.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sawtooth::experiments {

/// "--key VALUE description" of the help; an option without a value is on where it is given.
struct PlainOption {
  std::string_view key, value, description;
};

struct PlainOptions {
  std::map<std::string, std::string, std::less<>> values;  // by key, without its dashes
  std::vector<std::string> operands;

  bool has(std::string_view key) const { return values.contains(key); }
  std::string value_or(std::string_view key, std::string_view otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string(otherwise) : found->second;
  }
  /// Throws UsageError unless the value is a whole number from 0 on.
  int64_t count_or(std::string_view key, int64_t otherwise) const;
};

/// Options are "--key value" or "--key=value". Throws UsageError that names the option and what is
/// allowed.
PlainOptions parse_plain_options(std::string_view command, const std::vector<std::string>& words,
                                 std::span<const PlainOption> known, size_t most_operands);

/// The metrics of a comma-separated list. Throws UsageError when there is none.
std::vector<std::string> metric_list(std::string_view text);

}  // namespace sawtooth::experiments
