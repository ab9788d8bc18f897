#include "experiments/sawtooth/compare/compare_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <span>
#include <sstream>

#include "experiments/sawtooth/compare/compare_statistics.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int name_width = 26;
constexpr int number_width = 10;

std::string percent(double share, bool with_sign = false) {
  std::ostringstream text;
  if (with_sign) text << std::showpos;
  text << std::fixed << std::setprecision(2) << share * 100 << " %";
  return text.str();
}

std::string decimal(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(3) << value;
  return text.str();
}

// With all digits that a double has; nothing for nothing.
std::string exact(std::optional<double> value) {
  if (!value) return {};
  constexpr int digits = 17;
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, *value, std::chars_format::general, digits);
  return std::string(text, end.ptr);
}

class Line {
 public:
  explicit Line(const std::string& name) {
    out_ << "  " << std::left << std::setw(name_width) << name << std::right;
  }
  Line& add(const std::string& text) {
    out_ << " " << std::setw(number_width) << text;
    return *this;
  }
  std::string text(const std::string& ending = {}) const { return out_.str() + ending + "\n"; }

 private:
  std::ostringstream out_;
};

bool is_beyond(const ErrorSummary& summary, const Tolerances& tolerances) {
  const auto tolerance = tolerances.of(summary.counter);
  return tolerance && (summary.undefined > 0 || summary.worst > *tolerance);
}

std::string summary_line(const ErrorSummary& s, bool with_intervals, const Tolerances& tolerances) {
  Line line(s.counter);
  line.add(std::to_string(s.points));
  if (s.has_figures()) {
    line.add(percent(s.median)).add(percent(s.ninety)).add(percent(s.worst));
    line.add(percent(s.worst_steady)).add(percent(s.signed_median, true));
  } else {
    for (int i = 0; i < 5; ++i) line.add("-");
  }
  line.add(s.rank ? decimal(*s.rank) : "-");
  line.add(s.noise ? percent(*s.noise) : "-");
  if (with_intervals) {
    line.add(s.covered ? percent(*s.covered) : "-");
    line.add(s.half_width ? percent(*s.half_width) : "-");
  }
  if (!is_beyond(s, tolerances)) return line.text();
  return line.text("  beyond " + percent(*tolerances.of(s.counter)));
}

// Of a list in the order of groups.
template <class Statistic>
std::span<const Statistic> of_group(const std::vector<Statistic>& all, const std::string& group) {
  return {std::ranges::lower_bound(all, group, {}, &Statistic::group),
          std::ranges::upper_bound(all, group, {}, &Statistic::group)};
}

std::string regime_text(const std::vector<ErrorSummary>& summaries, const std::string& group,
                        const std::string& title, const Tolerances& tolerances) {
  const auto found = of_group(summaries, group);
  const bool with_intervals =
      std::ranges::any_of(found, [](const ErrorSummary& s) { return s.covered.has_value(); });
  std::string lines;
  for (const ErrorSummary& s : found) lines += summary_line(s, with_intervals, tolerances);
  if (lines.empty()) return {};
  Line head(title);
  for (const char* column :
       {"points", "median", "90 %", "worst", "steady", "signed", "rank", "noise"}) {
    head.add(column);
  }
  if (with_intervals) head.add("covered").add("half width");
  return head.text() + lines;
}

// Points where nothing was measured and something predicted have no relative error: they are said.
std::string zero_text(const ErrorSummary& summary) {
  if (summary.undefined == 0) return {};
  std::ostringstream out;
  out << "  " << summary.counter << ": 0 measured at " << summary.undefined << " of "
      << summary.points << " points where up to " << std::fixed << std::setprecision(0)
      << summary.most_undefined << " were predicted; no relative error is defined there\n";
  if (summary.counter == "l2_write_miss_sectors") {
    out << "    (the two differ in meaning: GH100 counts a write that allocates its line without a "
           "fill as a hit,\n     the models count the first write of a line as a miss, as the "
           "sawtooth paper's counts on GB10 do)\n";
  }
  return out.str();
}

std::string changes_text(const std::vector<ScheduleChanges>& changes, const std::string& group) {
  std::string lines;
  for (const ScheduleChanges& c : of_group(changes, group)) {
    const double pairs = static_cast<double>(c.counts.pairs);
    lines += Line(c.counter)
                 .add(std::to_string(c.counts.pairs))
                 .add(percent(static_cast<double>(c.counts.right_order) / pairs))
                 .add(percent(static_cast<double>(c.counts.right_size) / pairs))
                 .text();
  }
  if (lines.empty()) return {};
  return Line("changes of schedule").add("pairs").add("order").add("size").text() + lines;
}

std::string skill_text(const std::vector<Skill>& skills, const std::string& group,
                       const std::string& title) {
  std::string lines;
  for (const Skill& s : of_group(skills, group)) {
    lines += Line(s.counter)
                 .add(std::to_string(s.points))
                 .add(decimal(s.value()))
                 .text("  over " + s.baseline);
  }
  if (lines.empty()) return {};
  return Line(title).add("points").add("skill").text() + lines;
}

// Without the counters that every rule has right or that have no error at all.
std::vector<ErrorSummary> inexact(std::vector<ErrorSummary> summaries) {
  std::erase_if(summaries, [](const ErrorSummary& s) { return s.worst == 0; });
  return summaries;
}

std::vector<std::string> groups_of(const std::vector<ErrorSummary>& summaries) {
  std::vector<std::string> groups;
  for (const ErrorSummary& s : summaries) {
    if (groups.empty() || groups.back() != s.group) groups.push_back(s.group);
  }
  return groups;
}

}  // namespace

std::string report_text(const std::vector<PointError>& errors,
                        const std::vector<PointError>& baselines, const Tolerances& tolerances) {
  const std::string over = "over " + decimal(over_compulsory_factor).substr(0, 3) + " x compulsory";
  const auto all = summarise(errors);
  const auto hard = summarise(errors, Regime::over_compulsory);
  const auto changes = schedule_changes(errors);
  const auto worth = skills(errors, baselines);
  const auto worth_hard = skills(errors, baselines, Regime::over_compulsory);
  std::string text;
  for (const std::string& group : groups_of(all)) {
    text += (group.empty() ? "no model named" : group) + "\n";
    text += regime_text(all, group, "all points", tolerances);
    text += regime_text(hard, group, over, {});
    for (const ErrorSummary& s : of_group(all, group)) text += zero_text(s);
    text += changes_text(changes, group);
    text += skill_text(worth, group, "skill, all points");
    text += skill_text(worth_hard, group, "skill, " + over);
  }
  const auto simple = inexact(summarise(baselines));
  const auto simple_hard = inexact(summarise(baselines, Regime::over_compulsory));
  const auto simple_changes = schedule_changes(baselines);
  for (const std::string& group : groups_of(simple)) {
    text += group + "\n" + regime_text(simple, group, "all points", {}) +
            regime_text(simple_hard, group, over, {}) + changes_text(simple_changes, group);
  }
  return text;
}

bool beyond(const std::vector<PointError>& errors, const Tolerances& tolerances) {
  const auto summaries = summarise(errors);
  return std::any_of(summaries.begin(), summaries.end(),
                     [&](const ErrorSummary& s) { return is_beyond(s, tolerances); });
}

void write_error_table(std::ostream& out,
                       std::initializer_list<const std::vector<PointError>*> lists) {
  CsvRow header{"group",          "counter",       "predicted",      "predicted_low",
                "predicted_high", "measured",      "relative_error", "noise",
                "measured_low",   "measured_high", "launches",       "over_compulsory"};
  for (const std::string_view name : join_columns()) header.emplace_back(name);
  out << csv_line(header);
  for (const auto* errors : lists) {
    for (const PointError& error : *errors) {
      const auto end = [&](double PredictedInterval::*side) {
        return error.interval == nullptr ? std::string() : exact(error.interval->*side);
      };
      CsvRow row{std::string(error.point->group),
                 std::string(error.counter),
                 exact(error.predicted),
                 end(&PredictedInterval::low),
                 end(&PredictedInterval::high),
                 exact(error.measured),
                 exact(error.relative()),
                 exact(error.noise()),
                 exact(error.low()),
                 exact(error.high()),
                 std::to_string(error.launches == nullptr ? 1 : error.launches->count),
                 exact(error.point->over_compulsory)};
      for (size_t i = 0; i < join_column_count; ++i) row.push_back(error.point->key[i]);
      out << csv_line(row);
    }
  }
}

}  // namespace sawtooth::experiments
