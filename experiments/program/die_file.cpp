#include "experiments/program/die_file.hpp"

#include <charconv>

#include "experiments/program/ini.hpp"
#include "experiments/program/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

constexpr double most_slowness = 0.5;

[[noreturn]] void refuse(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

std::vector<int> halves_of(const std::string& path, const IniEntry& entry) {
  std::vector<int> halves;
  for (size_t at = 0; at < entry.value.size() || at == 0; at += 2) {
    const char digit = at < entry.value.size() ? entry.value[at] : '\0';
    const bool ends = at + 1 == entry.value.size();
    if ((digit != '0' && digit != '1') || (!ends && entry.value[at + 1] != ',') ||
        at + 2 == entry.value.size())
      refuse(path, entry.line,
             "[cta-half] value: number " + std::to_string(halves.size() + 1) +
                 " is not allowed; allowed: 0 and 1, separated by commas");
    halves.push_back(digit - '0');
  }
  return halves;
}

std::vector<double> numbers_of(const std::string& path, const IniEntry& entry) {
  std::vector<double> numbers;
  const char* at = entry.value.data();
  const char* const end = at + entry.value.size();
  while (true) {
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || !(number > -most_slowness && number < most_slowness) ||
        (stop != end && *stop != ','))
      refuse(path, entry.line,
             "[sm-slowness] value: number " + std::to_string(numbers.size() + 1) +
                 " is not allowed; allowed: shares between -0.5 and 0.5, separated by commas");
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop + 1;
  }
}

}  // namespace

DieFile read_die_file(const std::string& path) {
  DieFile die;
  bool is_die = false;
  for (const IniSection& section : read_ini(path).sections) {
    if (section.name.empty() && section.entries.empty()) continue;
    is_die |= section.name == "die";
    const bool slowness = section.name == "sm-slowness", tickets = section.name == "ticket-half";
    const bool halves = section.name == "cta-half";
    if (!slowness && !tickets && !halves && section.name != "die" && section.name != "sm-half")
      refuse(path, section.line,
             "[" + section.name +
                 "]: unknown section; allowed: die, cta-half, sm-half, sm-slowness, ticket-half");
    for (const IniEntry& entry : section.entries) {
      if (entry.key != "value") continue;
      if (slowness) die.sm_slowness = numbers_of(path, entry);
      if (halves) die.cta_half = halves_of(path, entry);
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
