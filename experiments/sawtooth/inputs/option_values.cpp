#include "experiments/sawtooth/inputs/option_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "experiments/sawtooth/compare/tolerances.hpp"

namespace sawtooth::experiments {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};
constexpr int64_t kibi = 1024;
constexpr auto count_units =
    std::to_array<Unit>({{"", 1}, {"K", kibi}, {"M", kibi* kibi}, {"G", kibi* kibi* kibi}});
constexpr auto byte_units = std::to_array<Unit>({{"", 1},
                                                 {"B", 1},
                                                 {"K", kibi},
                                                 {"M", kibi* kibi},
                                                 {"G", kibi* kibi* kibi},
                                                 {"KiB", kibi},
                                                 {"MiB", kibi* kibi},
                                                 {"GiB", kibi* kibi* kibi}});

[[noreturn]] void fail(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "' is not a number of that kind");
}

template <size_t size>
int64_t factor_of(const std::array<Unit, size>& units, std::string_view name,
                  std::string_view text) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  fail(text);
}

template <class Number>
Number leading_number(std::string_view text, std::string_view& rest) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0) fail(text);
  rest = trimmed({stop, static_cast<size_t>(end - stop)});
  return number;
}

int64_t in_range(int64_t value, const OptionSpec& option) {
  if (value < option.low || value > option.high) throw std::out_of_range("out of range");
  return value;
}

std::string canonical_section(std::string_view text, const OptionSpec& option) {
  if (text == "all") return "all";
  if (text.starts_with(auto_prefix)) {
    return std::string(auto_prefix) +
           std::to_string(parse_bytes(trimmed(text.substr(auto_prefix.size()))));
  }
  (void)option;
  const int64_t heads = parse_count(text);
  if (heads < 1) fail(text);
  return std::to_string(heads);
}

std::string canonical_mask(std::string_view text) {
  const Mask mask = parse_mask(text);
  return mask.kind == MaskKind::window ? std::string(window_prefix) + std::to_string(mask.window)
                                       : std::string(text);
}

std::string canonical_on_off(std::string_view text) {
  if (text == "on" || text == "off") return std::string(text);
  throw std::invalid_argument("neither on nor off");
}

std::string canonical_choice(std::string_view text, const OptionSpec& option) {
  const auto choices = option.choices();
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    throw std::invalid_argument("no such choice");
  }
  return std::string(text);
}

std::string canonical_share(std::string_view text) {
  std::string_view rest;
  double share = leading_number<double>(text, rest);
  if (rest == "%") {
    share /= 100;
  } else if (!rest.empty()) {
    fail(text);
  }
  if (!(share > 0 && share <= 1)) fail(text);
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, share);
  return {digits, end};
}

std::string canonical(const OptionSpec& option, std::string_view text) {
  switch (option.kind) {
    case OptionKind::count:
      return std::to_string(in_range(parse_count(text), option));
    case OptionKind::share:
      return canonical_share(text);
    case OptionKind::seed:
      return std::to_string(parse_count(text));
    case OptionKind::bytes:
      return std::to_string(in_range(parse_bytes(text), option));
    case OptionKind::choice:
      return canonical_choice(text, option);
    case OptionKind::on_off:
    case OptionKind::toggle:
      return canonical_on_off(text);
    case OptionKind::mask:
      return canonical_mask(text);
    case OptionKind::section:
      return canonical_section(text, option);
    case OptionKind::name:
    case OptionKind::path:
    case OptionKind::text:
      if (text.empty() || text.find_first_of("\r\n") != std::string_view::npos) fail(text);
      return std::string(text);
    case OptionKind::tolerance:
      Tolerances::parse(text);
      return std::string(text);
  }
  fail(text);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t comma = text.find(',', begin);
    parts.emplace_back(trimmed(text.substr(begin, comma - begin)));
    if (comma == std::string_view::npos) return parts;
    begin = comma + 1;
  }
}

int64_t parse_count(std::string_view text) {
  std::string_view unit;
  const int64_t number = leading_number<int64_t>(text, unit);
  const int64_t factor = factor_of(count_units, unit, text);
  if (number > std::numeric_limits<int64_t>::max() / factor) fail(text);
  return number * factor;
}

int64_t parse_bytes(std::string_view text) {
  std::string_view unit;
  const double number = leading_number<double>(text, unit);
  const double value = number * static_cast<double>(factor_of(byte_units, unit, text));
  constexpr double most = 9007199254740992.0;  // 2^53: every whole number below it is a double
  if (!(value >= 1) || value > most) fail(text);
  const bool fraction_of_a_byte = unit.empty() && value != std::floor(value);
  if (fraction_of_a_byte) fail(text);
  return std::llround(value);
}

Mask parse_mask(std::string_view text) {
  if (text == "none") return {};
  if (text == "causal") return {.kind = MaskKind::causal};
  if (!text.starts_with(window_prefix)) fail(text);
  const int64_t window = parse_count(trimmed(text.substr(window_prefix.size())));
  if (window < 1) fail(text);
  return {.kind = MaskKind::window, .window = window};
}

std::string canonical_value(const OptionSpec& option, std::string_view text) {
  try {
    return canonical(option, text);
  } catch (const std::logic_error&) {  // invalid_argument and out_of_range: one message for both
    throw std::invalid_argument("'" + std::string(text) +
                                "' is not allowed; allowed: " + allowed_values(option));
  }
}

}  // namespace sawtooth::experiments
