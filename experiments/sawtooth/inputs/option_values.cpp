#include "experiments/sawtooth/inputs/option_values.hpp"

#include <stdexcept>

#include "experiments/sawtooth/inputs/page_table.hpp"
#include "experiments/sawtooth/inputs/removed_options.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "experiments/sawtooth/inputs/tolerances.hpp"
#include "experiments/sawtooth/support/names.hpp"

namespace sawtooth::experiments {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "' is not allowed");
}

int64_t in_range(int64_t value, const OptionSpec& option) {
  if (value < option.low || value > option.high) throw std::out_of_range("out of range");
  return value;
}

std::string canonical_section(std::string_view text) {
  const Section section = parse_section(text);
  if (section.all) return "all";
  if (section.auto_bytes > 0) return std::string(auto_prefix) + std::to_string(section.auto_bytes);
  return std::to_string(section.heads);
}

std::string canonical_mask(std::string_view text) {
  const Mask mask = parse_mask(text);
  return mask.kind == MaskKind::window ? std::string(window_prefix) + std::to_string(mask.window)
                                       : lowered(text);
}

std::string canonical_on_off(std::string_view text) {
  const std::string word = lowered(text);
  if (word == "on" || word == "off") return word;
  throw std::invalid_argument("neither on nor off");
}

std::string canonical_choice(std::string_view text, const OptionSpec& option) {
  const std::string_view found = found_name(text, option.allowed());
  if (found.empty()) throw std::invalid_argument("no such choice");
  return std::string(found);
}

std::string one_line(std::string_view text) {
  if (text.empty() || text.find_first_of("\r\n") != std::string_view::npos) fail(text);
  return std::string(text);
}

// Names of profiles and systems are in lower case; a path is what it is.
std::string canonical_name(std::string_view text) {
  const std::string line = one_line(text);
  const bool is_path = line.find('/') != std::string::npos || line.ends_with(".ini");
  return is_path ? line : lowered(line);
}

std::string canonical_share(std::string_view text) {
  const double share = parse_share(text);
  if (!(share > 0 && share <= 1)) fail(text);
  return shortest(share);
}

std::string canonical(const OptionSpec& option, std::string_view text) {
  switch (option.kind) {
    case OptionKind::count:
      return std::to_string(in_range(parse_count(text), option));
    case OptionKind::parts:
      return lowered(text) == automatic ? std::string(automatic)
                                        : std::to_string(in_range(parse_count(text), option));
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
      return canonical_section(text);
    case OptionKind::part:
      return lowered(text) == all_parts ? std::string(all_parts)
                                        : std::to_string(in_range(parse_count(text), option));
    case OptionKind::lengths:
      return canonical_lengths(trimmed(text));
    case OptionKind::page_table:
      return canonical_page_table(trimmed(text));
    case OptionKind::name:
      return canonical_name(text);
    case OptionKind::path:
    case OptionKind::text:
      return one_line(text);
    case OptionKind::tolerance:
      Tolerances::parse(text);
      return std::string(text);
  }
  fail(text);
}

constexpr std::string_view range_mark = "..";
// A longer axis than this is a typing error; each value takes some 100 bytes.
constexpr int64_t most_values_of_a_range = int64_t{1} << 20;

bool takes_ranges(const OptionSpec& option) {
  using enum OptionKind;
  return option.is_axis() && (option.kind == count || option.kind == parts ||
                              option.kind == bytes || option.kind == OptionKind::seed);
}

}  // namespace

std::vector<std::string> axis_values(const OptionSpec& option, std::string_view text) {
  const size_t mark = text.find(range_mark);
  if (!takes_ranges(option) || mark == std::string_view::npos)
    return {canonical_value(option, text)};
  const size_t colon = text.find(':', mark);
  const auto number = [&](std::string_view part) {
    return std::stoll(canonical_value(option, trimmed(part)));
  };
  const int64_t begin = number(text.substr(0, mark));
  const size_t end_at = mark + range_mark.size();
  const int64_t end = number(text.substr(end_at, colon - end_at));
  int64_t step = 1;
  if (colon != std::string_view::npos) {
    const std::string_view part = trimmed(text.substr(colon + 1));
    try {
      step = option.kind == OptionKind::bytes ? parse_bytes(part) : parse_count(part);
    } catch (const std::invalid_argument&) {
      step = 0;
    }
  }
  const std::string range =
      std::string("'").append(text).append("' is not allowed; allowed: BEGIN..END:STEP ");
  if (end < begin || step < 1)
    throw std::invalid_argument(range + "with END from BEGIN on and STEP from 1 on");
  if ((end - begin) / step >= most_values_of_a_range)
    throw std::invalid_argument(range + "with up to " + std::to_string(most_values_of_a_range) +
                                " values");
  std::vector<std::string> values;
  for (int64_t i = 0; i <= (end - begin) / step; ++i)
    values.push_back(std::to_string(begin + i * step));
  return values;
}

Section parse_section(std::string_view given) {
  const std::string text = lowered(given);
  if (text == "all") return {.all = true};
  if (text.starts_with(auto_prefix))
    return {.auto_bytes = parse_bytes(trimmed(std::string_view(text).substr(auto_prefix.size())))};
  const int64_t heads = parse_count(text);
  if (heads < 1) fail(text);
  return {.heads = heads};
}

Mask parse_mask(std::string_view given) {
  const std::string text = lowered(given);
  if (text == "none") return {};
  if (text == "causal") return {.kind = MaskKind::causal};
  if (!text.starts_with(window_prefix)) fail(text);
  const int64_t window = parse_count(trimmed(std::string_view(text).substr(window_prefix.size())));
  if (window < 1 || window > find_option("seq-kv")->high) fail(text);
  return {.kind = MaskKind::window, .window = window};
}

std::string canonical_value(const OptionSpec& option, std::string_view text) {
  try {
    return canonical(option, text);
  } catch (const std::logic_error&) {  // invalid_argument and out_of_range: one message for both
    std::string message = "'" + std::string(text) + "' ";
    if (const std::string why = removal_of(text); !why.empty())
      throw std::invalid_argument(message + why);
    message += "is not allowed; allowed: " + allowed_values(option);
    if (option.kind == OptionKind::choice) message += did_you_mean(text, option.allowed());
    throw std::invalid_argument(message);
  }
}

}  // namespace sawtooth::experiments
