// How verdicts of a search are ranked, and why those behind the first lost.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "experiments/sawtooth/search/staged_search.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/bounds/bounds.hpp"

namespace sawtooth::experiments {
namespace {

// How far beyond the constraints a row is: 0 where it keeps them all, and in words.
double excess(const CsvRow& row, const Goal& goal, const std::vector<double>& limits,
              std::string& words) {
  double most = 0;
  for (size_t c = 0; c < goal.constraints.size(); ++c) {
    const Objective& objective = goal.constraints[c].objective;
    const double value = value_in(row, objective).value_or(infinite);
    if (value <= limits[c]) continue;
    const double share = value / limits[c] - 1;
    if (share <= most) continue;
    most = share;
    words = objective.name + " " + percent_above(value, limits[c]) + " beyond its limit";
  }
  return most;
}

// What made it slower, where the costs of its busiest worker alone explain half of it.
std::string reason(const Verdict& loser, const Verdict& best, const Goal& goal) {
  const double value = *value_in(loser.row, goal.minimise);
  const double least = *value_in(best.row, goal.minimise);
  std::string text =
      goal.minimise.name + " " +
      (least > 0 ? percent_above(value, least) : std::to_string(int64_t(value)) + " instead of 0");
  if (goal.minimise.name != time_objective.name) return text;
  const auto own = least_time_us(*loser.candidate), others = least_time_us(*best.candidate);
  if (own && others && *own - *others > (value - least) / 2)
    return text + ": its busiest worker has " + fixed(*own - *others, 2) + " us more";
  const auto reads = value_in(loser.row, dram_objective),
             best_reads = value_in(best.row, dram_objective);
  constexpr double worth_saying = 1.01;
  if (reads && best_reads && *reads > worth_saying * *best_reads)
    text.append(", DRAM reads x ").append(fixed(*reads / *best_reads, 2));
  return text;
}

void mark_pareto(std::vector<Verdict>& verdicts) {
  for (Verdict& verdict : verdicts) {
    const auto time = value_in(verdict.row, time_objective);
    const auto reads = value_in(verdict.row, dram_objective);
    if (!verdict.decided || !time || !reads) continue;
    verdict.pareto = std::ranges::none_of(verdicts, [&](const Verdict& other) {
      const auto t = value_in(other.row, time_objective), r = value_in(other.row, dram_objective);
      return other.decided && t && r && *t <= *time && *r <= *reads && (*t < *time || *r < *reads);
    });
  }
}

}  // namespace

std::string percent_above(double value, double best) {
  const double percent = 100 * (value / best - 1);
  return std::string(percent < 0 ? "" : "+").append(fixed(percent, 2)).append(" %");
}

std::optional<double> least_time_us(const Candidate& candidate) {
  try {
    return sim::time_bounds(candidate.point.request, candidate.point.gpu).this_order;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

const Verdict* SearchedShape::usual_verdict() const {
  if (usual) return &*usual;
  if (!shape->usual_index) return nullptr;
  const Candidate* candidate = shape->usual();
  const auto found = std::ranges::find(verdicts, candidate, &Verdict::candidate);
  return found == verdicts.end() ? nullptr : &*found;
}

void rank(std::vector<Verdict>& verdicts, const Goal& goal) {
  std::vector<double> limits;
  for (const Constraint& constraint : goal.constraints) {
    double best = infinite;
    for (const Verdict& verdict : verdicts)
      if (verdict.decided)
        best = std::min(best, value_in(verdict.row, constraint.objective).value_or(infinite));
    limits.push_back(constraint.of_best ? constraint.limit * best : constraint.limit);
  }
  std::map<const Candidate*, std::pair<double, std::string>> beyond;
  for (const Verdict& verdict : verdicts) {
    auto& [share, words] = beyond[verdict.candidate];
    if (verdict.decided) share = excess(verdict.row, goal, limits, words);
  }
  // Ties go to the one that reads less, then to the one that comes first in the space.
  const auto key = [&](const Verdict& verdict) {
    const double value = verdict.decided ? *value_in(verdict.row, goal.minimise)
                                         : verdict.screened.value_or(infinite);
    const double reads = value_in(verdict.row, dram_objective).value_or(infinite);
    return std::tuple(!verdict.decided, beyond[verdict.candidate].first, value, reads);
  };
  std::ranges::stable_sort(verdicts, {}, key);
  mark_pareto(verdicts);
  std::string chosen_why = "best";
  if (goal.minimise.name == time_objective.name && !verdicts.empty() && verdicts[0].decided) {
    // Times as close are the same, reads are not, but for what models are off by. Of those with the
    // fewest the fastest comes first.
    const double least = *value_in(verdicts[0].row, time_objective);
    const auto near_reads = [&](const Verdict& verdict) {
      const bool near = verdict.decided && beyond[verdict.candidate].second.empty() &&
                        *value_in(verdict.row, time_objective) <= same_time * least;
      return near ? value_in(verdict.row, dram_objective).value_or(infinite) : infinite;
    };
    const double fewest = near_reads(*std::ranges::min_element(verdicts, {}, near_reads));
    const auto chosen = std::ranges::find_if(verdicts, [&](const Verdict& verdict) {
      return near_reads(verdict) <= same_reads * fewest;
    });
    if (chosen != verdicts.begin()) {
      chosen_why = "fewest DRAM reads of those within 0.5 % of the least time, " +
                   percent_above(*value_in(chosen->row, time_objective), least);
      std::rotate(verdicts.begin(), chosen, chosen + 1);
    }
  }
  int next = 1;
  for (Verdict& verdict : verdicts) {
    if (!verdict.decided) continue;
    verdict.rank = next++;
    const std::string& words = beyond[verdict.candidate].second;
    verdict.feasible = words.empty();
    verdict.why = !words.empty()      ? words
                  : verdict.rank == 1 ? chosen_why
                                      : reason(verdict, verdicts.front(), goal);
  }
}

// What is minimised.

namespace {

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
                   "' is no column that can be minimised; allowed: time, " +
                   join_list(sim::counter_columns, ", ", &sim::CounterColumn::name));
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
