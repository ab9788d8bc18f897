#include "experiments/sawtooth/inputs/die_file.hpp"

#include <charconv>

#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr double most_slowness = 0.5;
constexpr std::string_view sections =
    "die, cta-half, sm-half, sm-slowness, sm-slowness-older, sm-slowness-younger, ticket-half";

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

// Numbers that `allows` takes, as of so many characters, separated by commas; `allowed` says which
// those are.
template <class Number, class Allows>
std::vector<Number> list_of(const std::string& path, const std::string& section,
                            const IniEntry& entry, Allows allows, const char* allowed) {
  std::vector<Number> numbers;
  const char* at = entry.value.data();
  const char* const end = at + entry.value.size();
  while (true) {
    Number number{};
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || !allows(number, stop - at) || (stop != end && *stop != ','))
      refuse(path, entry.line,
             "[" + section + "] value: number " + std::to_string(numbers.size() + 1) +
                 " is not allowed; allowed: " + allowed + ", separated by commas");
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop + 1;
  }
}

/// Null: no list of speeds.
std::vector<double> SmSpeeds::*speeds_field(std::string_view key) {
  if (key == "sm-slowness") return &SmSpeeds::slowness;
  if (key == "sm-slowness-older") return &SmSpeeds::older;
  if (key == "sm-slowness-younger") return &SmSpeeds::younger;
  return nullptr;
}

SmSpeeds& speeds_for(DieFile& die, const std::optional<KernelShape>& kernel) {
  if (!kernel) return die.speeds;
  for (auto& [shape, speeds] : die.of_kernels)
    if (shape.is_of(kernel->head_dim, kernel->tiling)) return speeds;
  return die.of_kernels.emplace_back(*kernel, SmSpeeds{}).second;
}

void read_speeds(const std::string& path, const IniSection& section, const SectionName& name,
                 const IniEntry& entry, DieFile& die) {
  const auto kernel = parse_kernel_shape(name.kernel);
  if (!kernel && !name.kernel.empty())
    refuse(path, section.line,
           "[" + section.name + "]: '" + std::string(name.kernel) +
               "' is no kernel; allowed: such as d128-128x64");
  speeds_for(die, kernel).*speeds_field(name.key) = list_of<double>(
      path, section.name, entry,
      [](double share, auto) { return share > -most_slowness && share < most_slowness; },
      "shares between -0.5 and 0.5");
}

}  // namespace

SmSpeeds speeds_of(const DieFile& die, int64_t head_dim, const Tiling& tiling) {
  SmSpeeds known = die.speeds;
  for (const auto& [shape, speeds] : die.of_kernels) {
    if (!shape.is_of(head_dim, tiling)) continue;
    for (const auto field : {&SmSpeeds::slowness, &SmSpeeds::older, &SmSpeeds::younger})
      if (!(speeds.*field).empty()) known.*field = speeds.*field;
  }
  return known;
}

DieFile read_die_file(const std::string& path) {
  const auto is_half = [](int half, auto digits) {
    return (half == 0 || half == 1) && digits == 1;
  };
  DieFile die;
  bool is_die = false;
  for (const IniSection& section : read_ini(path).sections) {
    if (section.name.empty() && section.entries.empty()) continue;
    const SectionName name = split_section_name(section.name);
    const bool speeds = speeds_field(name.key) != nullptr;
    const bool tickets = section.name == "ticket-half", halves = section.name == "cta-half";
    is_die |= section.name == "die";
    if (!speeds && !tickets && !halves && section.name != "die" && section.name != "sm-half")
      refuse(path, section.line,
             "[" + section.name + "]: unknown section; allowed: " + std::string(sections));
    for (const IniEntry& entry : section.entries) {
      if (entry.key != "value") continue;
      if (speeds) read_speeds(path, section, name, entry, die);
      if (halves) die.cta_half = list_of<int>(path, section.name, entry, is_half, "0 and 1");
      if (!tickets) continue;
      if (entry.value != "0" && entry.value != "1")
        refuse(path, entry.line,
               "[ticket-half] value: '" + entry.value + "' is not allowed; allowed: 0, 1");
      die.ticket_half = entry.value == "1" ? 1 : 0;
    }
  }
  if (!is_die) throw UsageError(path + ": no file of a die; section [die] is missing");
  return die;
}

}  // namespace sawtooth::experiments
