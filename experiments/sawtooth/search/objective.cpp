#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

std::string allowed_columns() {
  std::string text = "time";
  for (const sim::CounterColumn& counter : sim::counter_columns)
    text.append(", ").append(counter.name);
  return text;
}

std::optional<double> number_in(std::string_view text) {
  const auto value = number_of<double>(text);
  return value && *value > 0 ? value : std::nullopt;
}

Constraint constraint_in(const std::string& text, const std::string& place) {
  const auto fail = [&](const std::string& what) {
    throw UsageError(place + ": '" + text + "' " + what +
                     "; allowed: COLUMN<=NUMBER or COLUMN<=NUMBER*best, such as time<=1.01*best");
  };
  const size_t sign = text.find("<=");
  if (sign == std::string::npos) fail("has no <=");
  Constraint constraint{objective_named(trimmed(std::string_view(text).substr(0, sign)), place), 0,
                        false};
  std::string_view limit = trimmed(std::string_view(text).substr(sign + 2));
  if (const size_t star = limit.find('*'); star != std::string_view::npos) {
    if (trimmed(limit.substr(star + 1)) != "best") fail("multiplies something else than best");
    constraint.of_best = true;
    limit = trimmed(limit.substr(0, star));
  }
  const auto value = number_in(limit);
  if (!value) fail("has no number above 0");
  constraint.limit = *value;
  if (constraint.of_best && constraint.limit < 1) fail("asks for less than the best");
  return constraint;
}

}  // namespace

Objective objective_named(std::string_view name, const std::string& place) {
  const std::string_view meant = name == "time" ? time_objective.name : name;
  for (size_t column = first_counter_column; column <= result_column("time_us"); ++column)
    if (result_columns[column].name == meant) return {column, std::string(meant)};
  throw UsageError(place + ": '" + std::string(name) +
                   "' is no column that can be minimised; allowed: " + allowed_columns());
}

std::vector<Constraint> constraints_in(const std::string& list, const std::string& place) {
  std::vector<Constraint> constraints;
  if (list.empty()) return constraints;
  for (const std::string& text : split_list(list))
    constraints.push_back(constraint_in(text, place));
  return constraints;
}

Budget budget_of(const std::string& text, const std::string& place) {
  const bool in_seconds = text.ends_with('s');
  const auto value = number_in(std::string_view(text).substr(0, text.size() - in_seconds));
  const bool whole = value && *value == double(static_cast<int64_t>(*value));
  if (!value || (!in_seconds && !whole))
    throw UsageError(place + ": '" + text +
                     "' is not allowed; allowed: a number of evaluations a shape such as 200, or "
                     "seconds such as 60s");
  if (in_seconds) return {{}, *value};
  return {static_cast<int64_t>(*value), {}};
}

std::optional<double> value_in(const CsvRow& row, const Objective& objective) {
  if (row.size() <= objective.column || row[objective.column].empty()) return std::nullopt;
  return std::stod(row[objective.column]);
}

}  // namespace sawtooth::experiments
