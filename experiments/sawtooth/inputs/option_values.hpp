// Values as text, and what they mean. Every option has one canonical spelling (128K is 131072),
// so that two ways to write one point give the same row.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/option_schema.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "scheduler/mask.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::experiments {

/// Heads of a section as they are asked for.
struct Section {
  int64_t heads = 1;
  bool all = false;
  bool by_part = false;    // each part of L2 has whole heads
  int64_t auto_bytes = 0;  // above 0: as many as have their K/V in so many bytes
};

/// The canonical spelling; throws std::invalid_argument with what is allowed.
std::string canonical_value(const OptionSpec& option, std::string_view text);

/// The values of one part of an axis: itself, or those of a range BEGIN..END[:STEP] of a count, of
/// bytes or of seeds, END included where a step reaches it, each in its canonical spelling. Throws
/// std::invalid_argument with what is allowed.
std::vector<std::string> axis_values(const OptionSpec& option, std::string_view text);

/// What the option allows, as the end of an error message: "one of none, causal ...".
std::string allowed_values(const OptionSpec& option);
/// "N", "BYTES", "FILE", as help calls its value; empty for a toggle.
std::string_view value_name(const OptionSpec& option);

/// A mask by its words: of kind `listed` the canonical text says which (listed_mask.hpp).
struct NamedMask : Mask {
  std::string listed;
};

/// Throws std::invalid_argument.
NamedMask parse_mask(std::string_view text);
std::string value_text(const NamedMask& mask);

/// A whole number of heads from 1 on, all, or auto:BYTES; throws std::invalid_argument.
Section parse_section(std::string_view text);
std::string value_text(const Section& section);

inline constexpr std::string_view window_prefix = "window:";
inline constexpr std::string_view auto_prefix = "auto:";

/// The columns of results.csv that can be compared: counters, time_us and tflops.
std::vector<std::string_view> comparable_columns();

/// How large an error may be: one share for all counters, or one a counter.
class Tolerances {
 public:
  /// "5%", "0.05", or "dram_read_sectors=3%,time_us=5%"; throws std::invalid_argument.
  static Tolerances parse(std::string_view text);

  /// The largest error that passes, or nothing where this counter is not judged.
  std::optional<double> of(std::string_view counter) const;

 private:
  std::optional<double> all_;
  std::map<std::string, double, std::less<>> by_counter_;
};

// Typed values of keys from text and back, as fields of the table of options.

template <class Value>
using ValueNames = std::vector<std::pair<std::string_view, Value>>;

/// The names of a type's values: a specialisation, where the type's keys are, has them.
template <class Value>
inline constexpr std::nullptr_t names_of = nullptr;
template <>
inline const ValueNames<bool> names_of<bool>{{"off", false}, {"on", true}};

template <class Value>
concept HasNames = !std::is_same_v<decltype(names_of<Value>), const std::nullptr_t>;

template <class Value, class Table, class Member>
ValueNames<Value> names_from(const Table& table, Member member) {
  ValueNames<Value> names;
  for (const auto& entry : table) names.emplace_back(entry.name, entry.*member);
  return names;
}
/// Ids of a list of policies (scheduler/policy_list.hpp) have these names.
template <class Id, class List>
ValueNames<Id> names_of_policies() {
  ValueNames<Id> names;
  for (const PolicyInfo& policy : List::info())
    names.emplace_back(policy.name, Id{static_cast<int32_t>(names.size())});
  return names;
}

/// What stands in an optional.
template <class Value>
struct ValueOf {
  using Type = Value;
};
template <class Value>
struct ValueOf<std::optional<Value>> {
  using Type = Value;
};

/// The value that canonical text means (option_values.hpp), and its text; a value that is none of
/// its names cannot be read.
template <HasNames Value>
void read_value(std::string_view text, Value& value) {
  for (const auto& [name, named] : names_of<Value>)
    if (name == text) value = named;
}
template <HasNames Value>
std::string value_text(const Value& value) {
  for (const auto& [name, named] : names_of<Value>)
    if (named == value) return std::string(name);
  return {};
}

template <class Number>
requires(std::is_arithmetic_v<Number> &&
         !std::is_same_v<Number, bool>) void read_value(std::string_view text, Number& value) {
  std::from_chars(text.data(), text.data() + text.size(), value);
}
inline std::string value_text(int64_t value) {
  return std::to_string(value);
}
inline std::string value_text(uint64_t value) {
  return std::to_string(value);
}
inline std::string value_text(double value) {
  return shortest(value);
}

inline void read_value(std::string_view text, std::string& value) {
  value = text;
}
inline std::string value_text(const std::string& value) {
  return value;
}

inline void read_value(std::string_view text, NamedMask& mask) {
  mask = parse_mask(text);
}
inline void read_value(std::string_view text, Section& section) {
  section = parse_section(text);
}

template <class Value>
void read_value(std::string_view text, std::optional<Value>& value) {
  value.reset();
  if (text != automatic) read_value(text, value.emplace());
}
template <class Value>
std::string value_text(const std::optional<Value>& value) {
  return value ? value_text(*value) : std::string();
}

/// The names of a type's values in their order.
template <HasNames Value>
Names listed_names() {
  Names names;
  for (const auto& [name, value] : names_of<Value>) names.push_back(name);
  return names;
}

/// A member of Keys as the table reads and prints it.
template <class Keys, auto member>
constexpr KeyField field_of() {
  KeyField made{[](std::string_view text, Keys& keys) { read_value(text, keys.*member); },
                [](const Keys& keys) { return value_text(keys.*member); }};
  using Member = std::remove_cvref_t<decltype(std::declval<Keys&>().*member)>;
  using Value = typename ValueOf<Member>::Type;
  if constexpr (HasNames<Value>) made.choices = listed_names<Value>;
  return made;
}

/// The same of a member that has an effect only where `Condition::met()`, without `Condition::what`
/// of the keys.
template <class Keys, auto member, class Condition>
constexpr KeyField field_with() {
  KeyField made = field_of<Keys, member>();
  made.needs = Condition::what;
  made.met = [](const Keys& keys) { return Condition::met(keys); };
  made.print = [](const Keys& keys) {
    return Condition::met(keys) ? value_text(keys.*member) : std::string();
  };
  return made;
}

/// The values of a type that has names, and `auto`, which leaves the key without one.
template <class Value>
Names names_or_auto() {
  Names names = listed_names<Value>();
  names.insert(names.begin(), automatic);
  return names;
}

}  // namespace sawtooth::experiments
