// Numbers and lists as text, both ways, and mistakes of the user's.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace sawtooth::experiments {

/// What some editors put before a UTF-8 text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text);
/// The parts of `text` between commas, without white space around them; empty parts stay.
std::vector<std::string> split_list(std::string_view text);
/// "a, b, c" of any values, each as the text that `text_of` makes of it.
template <class Values, class TextOf = std::identity>
std::string join_list(const Values& values, std::string_view between = ", ", TextOf text_of = {}) {
  std::string list;
  bool is_first = true;
  for (const auto& value : values) {
    list.append(is_first ? std::string_view() : between).append(std::invoke(text_of, value));
    is_first = false;
  }
  return list;
}

/// A whole number from 0 on with an optional K, M or G, or k, m or g; throws std::invalid_argument.
int64_t parse_count(std::string_view text);
/// A number of bytes with an optional unit (B, K, M, G, KiB, MiB, GiB); throws
/// std::invalid_argument. A fraction of a unit is rounded to whole bytes.
int64_t parse_bytes(std::string_view text);
/// A number from 0 on, or a percentage; throws std::invalid_argument.
double parse_share(std::string_view text);

/// Throws std::invalid_argument: "'TEXT' is not allowed".
[[noreturn]] void refuse_value(std::string_view text);

/// What all of `text` says in this base; nothing where it is no number, or no finite one.
template <class Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
  Number number{};
  const char* end = text.data() + text.size();
  std::from_chars_result read;
  if constexpr (std::is_floating_point_v<Number>)
    read = std::from_chars(text.data(), end, number);
  else
    read = std::from_chars(text.data(), end, number, base);
  const bool whole = read.ec == std::errc{} && read.ptr == end;
  return whole && std::isfinite(double(number)) ? std::optional(number) : std::nullopt;
}

/// With so many decimals, no more and no fewer.
std::string fixed(double value, int decimals);
/// The fewest digits that read back as the same number.
std::string shortest(double value);
/// Whole numbers without a point, others with nine digits; nothing for what is not finite.
std::string counted(double value);
/// "1 point", "2 points".
std::string how_many(uint64_t count, std::string_view noun);
/// For single quotes of a shell around it; letters of `escaped` get a backslash as well.
std::string within_quotes(std::string_view text, std::string_view escaped = {});
/// Control characters, line breaks and NUL among them, become blanks: for formats of lines, and for
/// terminals, which would obey them.
std::string one_line(std::string_view text);
/// A JSON string with its quotes; control characters become blanks.
std::string json_string(std::string_view text);

// Names that people type: found whatever their case, and the nearest one to a name that is none.

/// In lower case (ASCII).
std::string lowered(std::string_view text);

/// That of `names` which is `text` but for upper and lower case; empty: none.
std::string_view found_name(std::string_view text, std::span<const std::string_view> names);

/// Those of `names` that continue `text` after a dash: a100-sxm-40gb and a100-sxm-80gb of a100.
std::vector<std::string> family_named(std::string_view text,
                                      std::span<const std::string_view> names);

/// "; did you mean NAME?" for the names that continue `text` after a dash, else for the one that
/// takes the fewest letters to change (an exchange of neighbours is one), where these are at most a
/// third of it; else empty.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names);

/// Views of `names`.
std::vector<std::string_view> views_of(const std::vector<std::string>& names);

/// Columns have the one, profiles the other.
inline constexpr double ns_a_us = 1000;

// How the program ends: exit codes, and mistakes of the user's, one line that says which key or
// file, what is wrong and what is allowed, which the program prints and exits with 2.

class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& what) : std::runtime_error(one_line(what)) {}
};

/// What no key or file forbids by itself, but a combination of them: of a sweep it is the status of
/// one point, and a mistake where all points have it.
class Refusal : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A mistake in a file, by its line (from 1 on).
[[noreturn]] inline void fail_at(const std::string& path, int line, const std::string& what) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + what);
}

// What the program's exit status means, the same for every command.
inline constexpr int exit_fine = 0;
inline constexpr int exit_check_failed = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_no_device = 3;      // no GPU, or its counters cannot be read
inline constexpr int exit_interrupted = 130;  // 128 + SIGINT, as shells report it

}  // namespace sawtooth::experiments
