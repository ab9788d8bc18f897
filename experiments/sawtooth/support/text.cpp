#include "experiments/sawtooth/support/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <sstream>

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

int64_t factor_of(std::span<const Unit> units, std::string_view name, std::string_view text) {
  for (const Unit& unit : units)
    if (lowered(unit.name) == lowered(name)) return unit.factor;
  fail(text);
}

template <class Number>
Number leading_number(std::string_view text, std::string_view& rest) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !(number >= 0)) fail(text);
  rest = trimmed({stop, static_cast<size_t>(end - stop)});
  return number;
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

double parse_share(std::string_view text) {
  std::string_view unit;
  const double number = leading_number<double>(text, unit);
  if (!std::isfinite(number) || (!unit.empty() && unit != "%")) fail(text);
  return unit == "%" ? number / 100 : number;
}

void refuse_value(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "' is not allowed");
}

std::string fixed(double value, int decimals) {
  std::ostringstream text;
  text.precision(decimals);
  text << std::fixed << value;
  return text.str();
}

std::string shortest(double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return {digits, end};
}

std::string counted(double value) {
  constexpr double exact_below = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return {};               // 0 / 0 for a ratio of nothing
  char text[40];
  const bool whole = std::trunc(value) == value && std::abs(value) < exact_below;
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
  return text;
}

std::string how_many(uint64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun) + (count == 1 ? "" : "s");
}

std::string within_quotes(std::string_view text, std::string_view escaped) {
  std::string inside;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) inside += '\\';
    inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return inside;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  constexpr char first_printed = ' ', del = '\x7f';
  for (size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    // Terminals obey U+0080 to U+009F too, which are C2 80 to C2 9F in UTF-8.
    const bool second = i + 1 < line.size() && (line[i + 1] & 0xE0) == 0x80;
    if (c < first_printed || c == del) line[i] = ' ';
    if (c == 0xC2 && second) line.replace(i, 2, " ");
  }
  return line;
}

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : one_line(text)) json.append(c == '"' || c == '\\' ? "\\" : "") += c;
  return json + '"';
}

namespace {

constexpr size_t longest = 64;  // longer than any name of the program

// Optimal string alignment (Damerau 1964): insert, delete, replace, exchange neighbours.
size_t changes_between(std::string_view a, std::string_view b) {
  // changes[i][j] is for the first i letters of a and the first j of b.
  std::vector<std::vector<size_t>> changes(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& fewest = changes[i][j];
      fewest = i + j;
      if (i == 0 || j == 0) continue;
      const size_t replaced = changes[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      fewest = std::min({replaced, changes[i - 1][j] + 1, changes[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        fewest = std::min(fewest, changes[i - 2][j - 2] + 1);
    }
  }
  return changes[a.size()][b.size()];
}

}  // namespace

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view found_name(std::string_view text, std::span<const std::string_view> names) {
  for (const std::string_view name : names)
    if (name == text || lowered(name) == lowered(text)) return name;
  return {};
}

std::vector<std::string> family_named(std::string_view text,
                                      std::span<const std::string_view> names) {
  std::vector<std::string> family;
  const std::string begin = lowered(text) + "-";
  for (const std::string_view name : names)
    if (lowered(name).starts_with(begin)) family.emplace_back(name);
  return family;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  if (text.empty() || text.size() > longest) return {};
  std::string continued;
  for (const std::string& name : family_named(text, names))
    continued.append(continued.empty() ? "" : " or ").append(name);
  if (!continued.empty()) return "; did you mean " + continued + "?";
  std::string_view best;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const std::string_view name : names) {
    const size_t changes = changes_between(lowered(name), lowered(text));
    if (changes >= fewest) continue;
    best = name;
    fewest = changes;
  }
  if (best.empty() || fewest * 3 > std::max(text.size(), best.size())) return {};
  return "; did you mean " + std::string(best) + "?";
}

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace sawtooth::experiments
