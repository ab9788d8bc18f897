// Options in words, for help, man pages and completions; all of it from the option table.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"

namespace sawtooth::experiments {

struct GroupTitle {
  OptionGroup group;
  std::string_view title;
};
inline constexpr auto group_titles = std::to_array<GroupTitle>({
    {OptionGroup::problem, "Problem"},
    {OptionGroup::schedule, "Schedule"},
    {OptionGroup::where, "Where it runs"},
    {OptionGroup::model, "Model"},
    {OptionGroup::output, "Output"},
});

/// "--key VALUE" of a command's own option.
std::string left_of(const PlainOption& option);

/// What it means, its values and its default.
std::string explanation(const OptionSpec& option);

/// Values that can be listed: choices, on and off, names of GPUs and systems.
std::vector<std::string> listed_values(const OptionSpec& option);

inline constexpr std::string_view exit_codes =
    "0 fine, 1 a check failed, 2 wrong usage, 3 device or counters not available.";

}  // namespace sawtooth::experiments
