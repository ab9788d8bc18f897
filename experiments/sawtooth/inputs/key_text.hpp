// Typed values of keys from text and back, as fields of the table of options.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "scheduler/schedule.hpp"

namespace sawtooth::experiments {

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
