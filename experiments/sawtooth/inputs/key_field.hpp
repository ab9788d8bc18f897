// How members of Keys are read from a key's text and printed again: KeyFields for the table of
// options.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "experiments/sawtooth/inputs/key_text.hpp"
#include "experiments/sawtooth/inputs/option_schema.hpp"

namespace sawtooth::experiments {

/// A member of Keys as the table reads and prints it.
template <auto member>
constexpr KeyField field = [] {
  KeyField made{[](std::string_view text, Keys& keys) { read_value(text, keys.*member); },
                [](const Keys& keys) { return value_text(keys.*member); }};
  using Value =
      typename ValueOf<std::remove_cvref_t<decltype(std::declval<Keys&>().*member)>>::Type;
  if constexpr (HasNames<Value>) {
    made.choices = [] {
      Names names;
      for (const auto& [name, value] : value_names(static_cast<Value*>(nullptr)))
        names.push_back(name);
      return names;
    };
  }
  return made;
}();

/// The values of a member's type, and `auto`, which leaves the member without one.
template <auto member>
Names names_or_auto() {
  Names names{automatic};
  for (const std::string_view name : field<member>.choices()) names.push_back(name);
  return names;
}

/// What only a backward pass has is empty in another one's rows and configurations.
template <auto member>
constexpr KeyField backward_field = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.pass == Pass::backward ? value_text(keys.*member) : std::string();
  };
  return made;
}();

/// What only a ring has.
template <auto member>
constexpr KeyField ring_field = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.ring ? value_text(keys.*member) : std::string();
  };
  return made;
}();

/// What heads that several GPUs share send.
inline constexpr KeyField exchange_field = [] {
  KeyField made = field<&Keys::exchange>;
  made.print = [](const Keys& keys) {
    return keys.head_shards ? value_text(keys.exchange) : std::string();
  };
  return made;
}();

/// A rank, or a step, of a ring: without a value all of them.
template <auto member>
constexpr KeyField ring_part_field{[](std::string_view text, Keys& keys) {
                                     (keys.*member).reset();
                                     if (text != all_parts)
                                       read_value(text, (keys.*member).emplace());
                                   },
                                   [](const Keys& keys) {
                                     if (!keys.ring) return std::string();
                                     return keys.*member ? value_text(*(keys.*member))
                                                         : std::string(all_parts);
                                   }};

/// Sequences of one length have no order.
inline constexpr KeyField sequence_order_field = [] {
  KeyField made = field<&Keys::sequence_order>;
  made.print = [](const Keys& keys) {
    return keys.has_lengths() ? value_text(keys.sequence_order) : std::string();
  };
  return made;
}();

/// Keys of shared prefixes and of pages are those of points that have them.
template <auto member, auto of>
constexpr KeyField field_where = [] {
  KeyField made = field<member>;
  made.print = [](const Keys& keys) {
    return keys.*of > 0 ? value_text(keys.*member) : std::string();
  };
  return made;
}();

/// An order from a file has no other name than that file's.
inline constexpr KeyField order_field = [] {
  KeyField made = field<&Keys::q_order>;
  made.print = [](const Keys& keys) {
    return keys.order_file.empty() ? value_text(keys.q_order) : "file:" + keys.order_file;
  };
  return made;
}();

}  // namespace sawtooth::experiments
