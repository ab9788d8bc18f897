#include "experiments/sawtooth/inputs/option_values.hpp"

#include <algorithm>
#include <stdexcept>

#include "experiments/sawtooth/inputs/listed_mask.hpp"
#include "experiments/sawtooth/inputs/sequence_lengths.hpp"
#include "sim/counters.hpp"

namespace sawtooth::experiments {
namespace {

// The word that a kind takes beside numbers; empty: none.
std::string_view word_of(OptionKind kind) {
  if (kind == OptionKind::parts) return automatic;
  return kind == OptionKind::part ? all_parts : std::string_view();
}

std::string canonical_count(std::string_view text, const OptionSpec& option) {
  const std::string word = lowered(text);
  if (!word.empty() && word == word_of(option.kind)) return word;
  const int64_t value = option.kind == OptionKind::bytes ? parse_bytes(text) : parse_count(text);
  if (value < option.low || value > option.high) refuse_value(text);
  return std::to_string(value);
}

std::string canonical_seed(std::string_view text, const OptionSpec&) {
  return std::to_string(parse_count(text));
}

std::string canonical_section(std::string_view text, const OptionSpec&) {
  return value_text(parse_section(text));
}

std::string canonical_mask(std::string_view text, const OptionSpec&) {
  return value_text(parse_mask(text));
}

std::string canonical_on_off(std::string_view text, const OptionSpec&) {
  const std::string word = lowered(text);
  if (word != "on" && word != "off") refuse_value(text);
  return word;
}

std::string canonical_choice(std::string_view text, const OptionSpec& option) {
  const std::string_view found = found_name(text, option.allowed());
  if (found.empty()) refuse_value(text);
  return std::string(found);
}

std::string one_line(std::string_view text, const OptionSpec&) {
  if (text.empty() || text.find_first_of("\r\n") != std::string_view::npos) refuse_value(text);
  return std::string(text);
}

// Names of profiles and systems are in lower case; a path is what it is.
std::string canonical_name(std::string_view text, const OptionSpec& option) {
  const std::string line = one_line(text, option);
  const bool is_path = line.find('/') != std::string::npos || line.ends_with(".ini");
  return is_path ? line : lowered(line);
}

std::string canonical_share(std::string_view text, const OptionSpec&) {
  const double share = parse_share(text);
  if (!(share > 0 && share <= 1)) refuse_value(text);
  return shortest(share);
}

std::string canonical_tolerance(std::string_view text, const OptionSpec&) {
  Tolerances::parse(text);
  return std::string(text);
}

std::string canonical_widths(std::string_view text, const OptionSpec& option) {
  const size_t mark = text.find(two_widths_mark);
  if (mark == std::string_view::npos) return canonical_count(text, option);
  return canonical_count(trimmed(text.substr(0, mark)), option) + two_widths_mark +
         canonical_count(trimmed(text.substr(mark + 1)), option);
}

/// What help calls a value of a kind; what is allowed, where LOW, HIGH and NAMES are the option's;
/// and the canonical spelling, whose function throws std::logic_error.
struct KindOfValue {
  OptionKind kind;
  std::string_view value_name, allowed;
  std::string (*canonical)(std::string_view text, const OptionSpec& option);
};

const KindOfValue& kind_of(const OptionSpec& option) {
  using enum OptionKind;
  static constexpr KindOfValue kinds[] = {
      {count, "N", "a whole number from LOW to HIGH (K, M and G mean 1024, 1024^2 and 1024^3)",
       canonical_count},
      {widths, "N[/N]",
       "a whole number from LOW to HIGH, or two, such as 192/128, of Q and K and of V and O",
       canonical_widths},
      {parts, "N|auto", "auto, or a whole number from LOW to HIGH, or a range such as 1..8",
       canonical_count},
      {part, "N|all", "a whole number from LOW to HIGH, or all", canonical_count},
      {bytes, "BYTES", "bytes from LOW to HIGH, such as 25165824, 512KiB, 24MiB or 1GiB",
       canonical_count},
      {share, "SHARE", "a number above 0 and up to 1, or a percentage, such as 0.01 or 1%",
       canonical_share},
      {seed, "N", "a whole number from 0 on", canonical_seed},
      {choice, "NAME", "one of NAMES", canonical_choice},
      {on_off, "on|off", "on or off", canonical_on_off},
      {toggle, "", "on or off", canonical_on_off},
      {mask, "MASK",
       "none, causal, window:W with W from LOW to HIGH keys, window:W+sink:N, prefix-lm:N, "
       "document:LENGTHS, blocks:FILE or blocks:random:SHARE:SEED",
       canonical_mask},
      {section, "N|all|part|auto:BYTES",
       "a whole number of heads, all, part, or auto:BYTES such as auto:32MiB", canonical_section},
      {lengths, "LENGTHS", allowed_lengths,
       [](std::string_view text, const OptionSpec&) { return canonical_lengths(trimmed(text)); }},
      {page_table, "TABLE", allowed_page_tables,
       [](std::string_view text, const OptionSpec&) {
         return canonical_page_table(trimmed(text));
       }},
      {name, "NAME", "a known name, or a path with a '/' or an ending .ini", canonical_name},
      {path, "FILE", "a file name", one_line},
      {tolerance, "SHARE", "5% or 0.05, or a list such as dram_read_sectors=3%,time_us=5%",
       canonical_tolerance},
      {text, "TEXT", "text on one line", one_line},
  };
  return *std::ranges::find(kinds, option.kind, &KindOfValue::kind);
}

void replace_word(std::string& text, std::string_view word, const std::string& with) {
  if (const size_t at = text.find(word); at != std::string::npos)
    text.replace(at, word.size(), with);
}

constexpr std::string_view range_mark = "..";
// A longer axis than this is a typing error; each value takes some 100 bytes.
constexpr int64_t most_values_of_a_range = int64_t{1} << 20;

bool takes_ranges(const OptionSpec& option) {
  using enum OptionKind;
  return option.is_axis() &&
         (option.kind == count || option.kind == widths || option.kind == parts ||
          option.kind == bytes || option.kind == OptionKind::seed);
}

}  // namespace

std::string_view value_name(const OptionSpec& option) {
  return kind_of(option).value_name;
}

std::string allowed_values(const OptionSpec& option) {
  std::string text(kind_of(option).allowed);
  if (option.kind != OptionKind::lengths) {
    replace_word(text, "LOW", std::to_string(option.low));
    replace_word(text, "HIGH", std::to_string(option.high));
  }
  if (option.kind == OptionKind::choice) replace_word(text, "NAMES", join_list(option.allowed()));
  if (option.kind == OptionKind::count && option.is_axis())
    text += ", or a range such as 96K..128K:4K";
  return text;
}

std::vector<std::string> axis_values(const OptionSpec& option, std::string_view text) {
  const size_t mark = text.find(range_mark);
  if (!takes_ranges(option) || mark == std::string_view::npos ||
      text.find(two_widths_mark) != std::string_view::npos)
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
  if (text == "part") return {.by_part = true};
  if (text.starts_with(auto_prefix))
    return {.auto_bytes = parse_bytes(trimmed(std::string_view(text).substr(auto_prefix.size())))};
  const int64_t heads = parse_count(text);
  if (heads < 1) refuse_value(text);
  return {.heads = heads};
}

NamedMask parse_mask(std::string_view given) {
  if (std::string listed = canonical_listed_mask(trimmed(given)); !listed.empty())
    return {{.kind = MaskKind::listed}, std::move(listed)};
  const std::string text = lowered(given);
  if (text == "none") return {};
  if (text == "causal") return {{.kind = MaskKind::causal}, {}};
  if (!text.starts_with(window_prefix)) refuse_value(text);
  const int64_t window = parse_count(trimmed(std::string_view(text).substr(window_prefix.size())));
  if (window < 1 || window > find_option("seq-kv")->high) refuse_value(text);
  return {{.kind = MaskKind::window, .window = window}, {}};
}

std::string value_text(const NamedMask& mask) {
  if (mask.kind == MaskKind::listed) return mask.listed;
  if (mask.kind == MaskKind::window)
    return std::string(window_prefix) + std::to_string(mask.window);
  return mask.kind == MaskKind::causal ? "causal" : "none";
}

std::string value_text(const Section& section) {
  if (section.all) return "all";
  if (section.by_part) return "part";
  if (section.auto_bytes > 0) return std::string(auto_prefix) + std::to_string(section.auto_bytes);
  return std::to_string(section.heads);
}

std::string canonical_value(const OptionSpec& option, std::string_view text) {
  try {
    return kind_of(option).canonical(text, option);
  } catch (const std::logic_error& error) {
    std::string message = "'" + std::string(text) + "' ";
    if (const std::string why = removal_of(text); !why.empty())
      throw std::invalid_argument(message + why);
    message += "is not allowed; allowed: " + allowed_values(option);
    if (option.kind == OptionKind::choice) message += did_you_mean(text, option.allowed());
    const std::string_view more = error.what();  // of a tolerance the nearest counter
    if (more.starts_with("; ")) message += more;
    throw std::invalid_argument(message);
  }
}

std::vector<std::string_view> comparable_columns() {
  std::vector<std::string_view> columns;
  for (const sim::CounterColumn& counter : sim::counter_columns) columns.push_back(counter.name);
  columns.push_back("time_us");
  columns.push_back("tflops");
  return columns;
}

Tolerances Tolerances::parse(std::string_view text) {
  Tolerances tolerances;
  const auto counters = comparable_columns();
  for (const std::string& part : split_list(text)) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (tolerances.all_) throw std::invalid_argument("; all counters have two shares");
      tolerances.all_ = parse_share(part);
      continue;
    }
    const std::string counter(trimmed(std::string_view(part).substr(0, equals)));
    if (std::find(counters.begin(), counters.end(), counter) == counters.end())
      throw std::invalid_argument(did_you_mean(counter, counters));
    tolerances.by_counter_[counter] =
        parse_share(trimmed(std::string_view(part).substr(equals + 1)));
  }
  return tolerances;
}

std::optional<double> Tolerances::of(std::string_view counter) const {
  const auto own = by_counter_.find(counter);
  return own != by_counter_.end() ? own->second : all_;
}

}  // namespace sawtooth::experiments
