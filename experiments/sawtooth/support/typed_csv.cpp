#include "experiments/sawtooth/support/typed_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

template <class... Kinds>
struct OneOf : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
OneOf(Kinds...) -> OneOf<Kinds...>;

double finite_number(const std::string& text) {
  const auto value = number_of<double>(text);
  if (!value) throw std::invalid_argument("'" + text + "' is no number");
  return *value;
}

int64_t whole_number(const std::string& text) {
  if (const auto whole = number_of<int64_t>(text); whole && *whole >= 0) return *whole;
  constexpr double exact_below = 9007199254740992.0;  // 2^53
  const double value = finite_number(text);
  if (value < 0 || value >= exact_below)
    throw std::invalid_argument("'" + text + "' is no whole number from 0 on");
  return std::llround(value);
}

}  // namespace

std::string cell_text(const TypedCell& cell, int digits) {
  return std::visit(
      OneOf{[](const std::string* text) { return *text; },
            [](const int64_t* count) { return std::to_string(*count); },
            [&](const double* number) {
              std::array<char, 40> text{};
              if (std::isnan(*number)) return std::string();
              const auto end = std::to_chars(text.data(), text.data() + text.size(), *number,
                                             std::chars_format::general, digits);
              return std::string(text.data(), end.ptr);
            },
            [](const std::optional<int64_t>* count) {
              return *count ? std::to_string(**count) : std::string();
            },
            [](const std::vector<int64_t>* counts) {
              std::vector<std::string> texts;
              for (const int64_t count : *counts) texts.push_back(std::to_string(count));
              return join_list(texts, ";");
            },
            [](const NamedCell& name) { return std::string(name.names[*name.value]); }},
      cell);
}

void read_cell(const TypedCell& cell, const std::string& text) {
  std::visit(OneOf{[&](std::string* value) { *value = text; },
                   [&](int64_t* count) { *count = whole_number(text); },
                   [&](double* number) {
                     *number = text.empty() ? std::numeric_limits<double>::quiet_NaN()
                                            : finite_number(text);
                   },
                   [&](std::optional<int64_t>* count) {
                     *count = text.empty() ? std::nullopt : std::optional(whole_number(text));
                   },
                   [&](std::vector<int64_t>* counts) {
                     counts->clear();
                     for (size_t begin = 0; begin < text.size();) {
                       const size_t end = std::min(text.find(';', begin), text.size());
                       counts->push_back(whole_number(text.substr(begin, end - begin)));
                       begin = end + 1;
                     }
                   },
                   [&](const NamedCell& name) {
                     const auto found = std::ranges::find(name.names, text);
                     if (found == name.names.end())
                       throw std::invalid_argument(
                           "'" + text + "' is not allowed; allowed: " + join_list(name.names));
                     *name.value = static_cast<unsigned char>(found - name.names.begin());
                   }},
             cell);
}

}  // namespace sawtooth::experiments
