#include "experiments/sawtooth/search/search_table.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "experiments/sawtooth/results/result_log.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "sim/belady/simulate_opt.hpp"
#include "sim/bounds/bounds.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int gap_decimals = 4;

std::string gap(std::optional<double> value, std::optional<double> bound) {
  if (!value || !bound || *bound <= 0) return "";
  return fixed(*value / *bound - 1, gap_decimals);
}

template <class Value>
void lower(std::optional<Value>& least, Value value) {
  least = least ? std::min(*least, value) : value;
}

template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? shortest(double(*value)) : "";
}

CsvRow row_of(const Verdict& verdict, const SpaceBounds& bounds) {
  CsvRow row = verdict.row;
  const auto reads = value_in(row, dram_objective), time = value_in(row, time_objective);
  // A replay of its own: of the winner and of what it is compared with.
  const bool compared = verdict.decided && verdict.rank <= 1;
  const auto optimal =
      compared ? optimal_replacement_reads(*verdict.candidate) : std::optional<int64_t>();
  for (std::string cell :
       {verdict.rank > 0 ? std::to_string(verdict.rank) : std::string(), verdict.evaluated_by,
        verdict.why,
        std::string(!verdict.decided ? ""
                    : verdict.pareto ? "yes"
                                     : "no"),
        text_of(bounds.dram_read_sectors), gap(reads, bounds.dram_read_sectors), text_of(optimal),
        bounds.time_us ? fixed(*bounds.time_us, 2) : "", gap(time, bounds.time_us)})
    row.push_back(std::move(cell));
  return row;
}

}  // namespace

SpaceBounds bounds_of(const Shape& shape) {
  SpaceBounds bounds;
  // Order, section and scan change neither.
  std::set<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int32_t, Loop>> known;
  for (const Candidate& candidate : shape.candidates) {
    if (!candidate.point.refusal.empty()) continue;
    const sim::Request& request = candidate.point.request;
    const Schedule& schedule = request.schedule;
    const bool is_new =
        known
            .emplace(request.tiling.q_rows, request.tiling.kv_rows, schedule.workers,
                     schedule.kv_split, schedule.prefetch, schedule.launch.index, schedule.loop)
            .second;
    if (!is_new) continue;
    lower(bounds.dram_read_sectors,
          sim::read_bounds(request.problem, request.tiling, schedule, request.l2_bytes).all_orders);
    try {
      if (request.timing == sim::Timing::timed)
        lower(bounds.time_us, sim::time_bounds(request, candidate.point.gpu).all_orders);
    } catch (const std::invalid_argument&) {  // the profile lacks what the model of time takes
    }
  }
  return bounds;
}

std::optional<int64_t> optimal_replacement_reads(const Candidate& candidate) {
  try {
    sim::Request request = candidate.point.request;
    request.timing = sim::Timing::lockstep;
    return sim::simulate_opt(request).total.dram_read_sectors;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string search_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  for (const std::string_view name : search_columns) header.emplace_back(name);
  return csv_line(header);
}

std::string search_rows(const SearchedShape& searched, const SpaceBounds& bounds) {
  std::string text;
  for (const Verdict& verdict : searched.verdicts) text += csv_line(row_of(verdict, bounds));
  if (searched.usual) text += csv_line(row_of(*searched.usual, bounds));
  return text;
}

std::string search_summary(const SearchedShape& searched, const SpaceBounds& bounds, size_t most) {
  std::ostringstream text;
  if (!searched.shape->name.empty()) text << one_line(searched.shape->name) << "\n";
  text << searched.summary << "\n";
  const Verdict* best = searched.best();
  const Verdict* usual = searched.usual_verdict();
  std::vector<const Verdict*> shown;
  std::vector<std::string> labels;
  for (const Verdict& verdict : searched.verdicts) {
    if (verdict.rank == 0) break;
    // The front of time and reads is shown whole, but for equals.
    const auto equals = [&](const Verdict* other) {
      return verdict.row[time_objective.column] == other->row[time_objective.column] &&
             verdict.row[dram_objective.column] == other->row[dram_objective.column];
    };
    const bool is_new = std::ranges::none_of(shown, equals);
    if (shown.size() >= most && !(verdict.pareto && is_new) && &verdict != usual) continue;
    labels.push_back(&verdict == best ? "chosen" : verdict.pareto && is_new ? "front" : "");
    shown.push_back(&verdict);
    if (&verdict == usual) labels.back() += labels.back().empty() ? "usual" : ", usual";
  }
  if (usual != nullptr && usual->decided && usual->rank == 0) {
    shown.push_back(usual);
    labels.emplace_back("usual");
  }
  std::vector<CsvRow> rows;
  for (const Verdict* verdict : shown) rows.push_back(verdict->row);
  text << short_table(rows, labels);
  if (best == nullptr) return text.str() + "no schedule that was decided keeps the constraints\n";
  const auto part = [&](const char* what, const Objective& objective, std::optional<double> bound) {
    const auto value = value_in(best->row, objective);
    if (!value || !bound || *bound <= 0) return;
    text << what << " of the chosen schedule: " << fixed(100 * (*value / *bound - 1), 1)
         << " % above what no schedule of the space can beat\n";
  };
  part("time", time_objective, bounds.time_us);
  part("DRAM reads", dram_objective, bounds.dram_read_sectors);
  if (std::ranges::count(labels, "front") > 0)
    text << "front: no decided schedule has less time and fewer DRAM reads\n";
  return text.str();
}

std::string configuration_of(const std::vector<const Candidate*>& candidates) {
  std::ostringstream text;
  size_t number = 0;
  for (const Candidate* candidate : candidates) {
    const Point& point = candidate->point;
    text << (number == 0 ? "" : "\n") << "[" << number + 1 << "]\n";
    ++number;
    const bool listed = !point.keys.order_file.empty();
    for (const OptionSpec& option : option_table()) {
      using enum OptionGroup;
      if (option.field.print == nullptr || option.group == model || option.group == output)
        continue;
      if (option.key == "tiles" || option.key == "seq") continue;
      const bool of_order =
          option.key == "section" || option.key == "q-order" || option.key == "head-order";
      if (listed && of_order) continue;
      // A profile of the user's is found by its path, not by its name.
      const std::string value =
          option.key == "gpu" ? value_or(candidate->settings, "gpu", "") : point.text(option.key);
      if (!value.empty()) text << ini_line(option.key, value);
    }
  }
  return text.str();
}

}  // namespace sawtooth::experiments
