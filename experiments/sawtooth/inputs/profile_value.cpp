#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "experiments/sawtooth/inputs/profile_file.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument("'" + std::string(text) + "'");
}

template <class Number>
Number checked(Number value, const ProfileBounds& bounds, std::string_view text) {
  if (!(double(value) >= bounds.low && double(value) <= bounds.high)) refuse(text);
  return value;
}

template <class Number>
Number number_or_refuse(std::string_view text) {
  const auto number = number_of<Number>(text);
  if (!number) refuse(text);
  return *number;
}

void parse(std::string_view text, const ProfileBounds& bounds, int64_t& value) {
  if (bounds.unit == ProfileUnit::count && text.size() > 1 && text.front() == '0') refuse(text);
  value = checked(bounds.unit == ProfileUnit::bytes ? parse_bytes(text) : parse_count(text), bounds,
                  text);
  if (bounds.unit == ProfileUnit::line && !std::has_single_bit(static_cast<uint64_t>(value)))
    refuse(text);
}

void parse(std::string_view text, const ProfileBounds& bounds, double& value) {
  value = checked(number_or_refuse<double>(text), bounds, text);
}

void parse(std::string_view text, const ProfileBounds&, bool& value) {
  if (text != "on" && text != "off") refuse(text);
  value = text == "on";
}

void parse(std::string_view text, const ProfileBounds& bounds, int& value) {
  value = checked(number_or_refuse<int>(text), bounds, text);
}

// A GPC, or a GPC and the first and the last of its TPCs.
void parse(std::string_view text, const ProfileBounds& bounds, sim::TpcRun& run) {
  const size_t colon = text.find(':'), dash = text.find('-');
  parse(text.substr(0, colon), bounds, run.gpc);
  if (colon == std::string_view::npos) return;
  if (dash == std::string_view::npos || dash < colon) refuse(text);
  int last_tpc = 0;
  parse(text.substr(colon + 1, dash - colon - 1), bounds, run.first_tpc);
  parse(text.substr(dash + 1), bounds, last_tpc);
  run.tpcs = last_tpc - run.first_tpc + 1;
  if (run.tpcs < 1) refuse(text);
}

void parse(std::string_view text, const ProfileBounds& bounds, sim::LinkRate& rate) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(text);
  rate.bytes = parse_bytes(text.substr(0, colon));
  if (rate.bytes < 1) refuse(text);
  parse(text.substr(colon + 1), bounds, rate.gb_per_s);
}

template <class Value>
void parse(std::string_view text, const ProfileBounds& bounds, std::optional<Value>& value) {
  parse(text, bounds, value.emplace());
}

template <class Value>
void parse(std::string_view text, const ProfileBounds& bounds, std::vector<Value>& values) {
  values.clear();
  for (const std::string& part : split_list(text)) {
    try {
      parse(part, bounds, values.emplace_back());
    } catch (const std::logic_error&) {
      throw std::invalid_argument("number " + std::to_string(values.size()));
    }
  }
}

void parse(std::string_view text, const ProfileBounds& bounds,
           std::vector<std::vector<int>>& lists) {
  lists.clear();
  while (true) {
    const size_t end = text.find('/');
    parse(text.substr(0, end), bounds, lists.emplace_back());
    std::vector<int> turns = lists.back();
    std::sort(turns.begin(), turns.end());
    for (size_t turn = 0; turn < turns.size(); ++turn)
      if (turns[turn] != static_cast<int>(turn)) refuse(text);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string allowed(const ProfileBounds& bounds, bool is_list) {
  const std::string range = " from " + shortest(bounds.low) + " to " + shortest(bounds.high);
  const std::string end = range + (is_list ? ", separated by commas" : "");
  switch (bounds.unit) {
    case ProfileUnit::count:
      return (is_list ? "whole numbers" : "a whole number") + end;
    case ProfileUnit::bytes:
      return "bytes" + range + ", such as 24MiB";
    case ProfileUnit::real:
      return (is_list ? "numbers" : "a number") + end;
    case ProfileUnit::flag:
      return "on, off";
    case ProfileUnit::line:
      return "32, 64, 128";
    case ProfileUnit::runs:
      return "GPCs and, after a colon, TPCs of them, such as 0:4-7, separated by commas";
    case ProfileUnit::rates:
      return "numbers" + range +
             " behind the bytes of a message and a colon, such as 8MiB:164, in rising order, "
             "separated by commas";
    case ProfileUnit::turns:
      return "for each size of a GPC the turns of its TPCs, each from 0 on once, separated by "
             "commas, sizes by /";
  }
  return {};
}

}  // namespace

void read_profile_value(std::string_view text, const ProfileBounds& bounds, ProfilePlace place) {
  try {
    std::visit([&](auto* value) { parse(text, bounds, *value); }, place);
  } catch (const std::logic_error& error) {
    const std::string_view what = error.what();
    const std::string part(what.starts_with("number ") ? what : "'" + std::string(text) + "'");
    const bool list = std::visit(
        [](auto* value) {
          return requires {
            value->clear();
          };
        },
        place);
    throw std::invalid_argument(part + " is not allowed; allowed: " + allowed(bounds, list));
  }
}

}  // namespace sawtooth::experiments
