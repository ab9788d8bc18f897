#include "experiments/sawtooth/compare/compare_summary.hpp"

#include <iomanip>
#include <sstream>

#include "experiments/sawtooth/compare/bootstrap.hpp"
#include "experiments/sawtooth/compare/compare_statistics.hpp"

namespace sawtooth::experiments {
namespace {

class SummaryTable {
 public:
  void add(std::string_view group, std::string_view counter, const std::string& statistic,
           double value, const std::string& against = {}) {
    std::ostringstream number;
    number << std::setprecision(17) << value;
    text_ += csv_line(
        {std::string(group), std::string(counter), points_, statistic, against, number.str()});
  }
  void add(const ErrorSummary& s) {
    const auto put = [&](const char* statistic, double value) {
      add(s.group, s.counter, statistic, value);
    };
    put("count", static_cast<double>(s.points));
    if (s.has_figures()) {
      put("median", s.median);
      put("ninety", s.ninety);
      put("worst", s.worst);
      put("steady", s.worst_steady);
      put("signed", s.signed_median);
    }
    if (s.rank) put("rank", *s.rank);
    if (s.noise) put("noise", *s.noise);
    if (s.covered) put("covered", *s.covered);
    if (s.half_width) put("half_width", *s.half_width);
  }
  void add(const GroupAndCounter& of, const ErrorIntervals& intervals) {
    const auto put = [&](const char* statistic, double value) {
      add(of.first, of.second, statistic, value);
    };
    put("median_low", intervals.median.low);
    put("median_high", intervals.median.high);
    put("ninety_low", intervals.ninety.low);
    put("ninety_high", intervals.ninety.high);
  }
  void add(const ScheduleChanges& c) {
    const auto pairs = static_cast<double>(c.counts.pairs);
    add(c.group, c.counter, "pairs", pairs);
    add(c.group, c.counter, "order", static_cast<double>(c.counts.right_order) / pairs);
    add(c.group, c.counter, "size", static_cast<double>(c.counts.right_size) / pairs);
  }
  void add(const Skill& s) { add(s.group, s.counter, "skill", s.value(), s.baseline); }

  void points(Regime regime) { points_ = regime == Regime::all ? "all" : "over"; }
  const std::string& text() const { return text_; }

 private:
  std::string points_;
  std::string text_ = csv_line({"group", "counter", "points", "statistic", "against", "value"});
};

}  // namespace

std::string summary_table(const std::vector<PointError>& errors,
                          const std::vector<PointError>& baselines) {
  SummaryTable table;
  for (const Regime regime : {Regime::all, Regime::over_compulsory}) {
    table.points(regime);
    for (const auto* judged : {&errors, &baselines}) {
      for (const ErrorSummary& summary : summarise(*judged, regime)) table.add(summary);
    }
    const ErrorSets sets = sets_of(errors, regime);
    for (const GroupAndCounter& name : sets.order) {
      if (const auto intervals = bootstrap(sets.points.at(name))) table.add(name, *intervals);
    }
    for (const Skill& skill : skills(errors, baselines, regime)) table.add(skill);
  }
  table.points(Regime::all);
  for (const auto* judged : {&errors, &baselines}) {
    for (const ScheduleChanges& changes : schedule_changes(*judged)) table.add(changes);
  }
  return table.text();
}

}  // namespace sawtooth::experiments
