#include "experiments/sawtooth/search/search_table.hpp"

#include <sstream>

#include "experiments/sawtooth/results/result_row.hpp"
#include "experiments/sawtooth/results/short_table.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

constexpr int gap_decimals = 4;

std::string gap(std::optional<double> value, std::optional<double> bound) {
  if (!value || !bound || *bound <= 0) return "";
  return fixed(*value / *bound - 1, gap_decimals);
}

template <class Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? shortest(double(*value)) : "";
}

CsvRow row_of(const Verdict& verdict, const SpaceBounds& bounds,
              const MeasuredByCandidate& measured) {
  CsvRow row = verdict.row;
  const auto reads = value_in(row, dram_objective), time = value_in(row, time_objective);
  // A replay of its own: of the winner and of what it is compared with.
  const bool compared = verdict.decided && verdict.rank <= 1;
  const auto optimal =
      compared ? optimal_replacement_reads(*verdict.candidate) : std::optional<int64_t>();
  const auto found = measured.find(verdict.candidate);
  const bool is_measured = found != measured.end();
  for (std::string cell :
       {verdict.rank > 0 ? std::to_string(verdict.rank) : std::string(), verdict.evaluated_by,
        verdict.why,
        std::string(!verdict.decided ? ""
                    : verdict.pareto ? "yes"
                                     : "no"),
        text_of(bounds.dram_read_sectors), gap(reads, bounds.dram_read_sectors), text_of(optimal),
        bounds.time_us ? fixed(*bounds.time_us, 2) : "", gap(time, bounds.time_us),
        is_measured ? std::to_string(found->second.rank) : "",
        is_measured ? fixed(found->second.time_us, 2) : "",
        is_measured ? text_of(found->second.dram_read_sectors) : ""})
    row.push_back(std::move(cell));
  return row;
}

}  // namespace

std::string search_header() {
  CsvRow header;
  for (const ResultColumn& column : result_columns) header.emplace_back(column.name);
  for (const std::string_view name : search_columns) header.emplace_back(name);
  return csv_line(header);
}

std::string search_rows(const SearchedShape& searched, const SpaceBounds& bounds,
                        const MeasuredByCandidate& measured) {
  std::string text;
  for (const Verdict& verdict : searched.verdicts)
    text += csv_line(row_of(verdict, bounds, measured));
  if (searched.usual) text += csv_line(row_of(*searched.usual, bounds, measured));
  return text;
}

std::string search_summary(const SearchedShape& searched, const SpaceBounds& bounds, size_t most) {
  std::ostringstream text;
  if (!searched.shape->name.empty()) text << searched.shape->name << "\n";
  text << searched.summary << "\n";
  std::vector<CsvRow> rows;
  for (const Verdict& verdict : searched.verdicts) {
    if (verdict.rank == 0 || rows.size() == most) break;
    rows.push_back(verdict.row);
  }
  const Verdict* usual = searched.usual_verdict();
  if (usual != nullptr && usual->decided && (usual->rank == 0 || usual->rank > int(most)))
    rows.push_back(usual->row);
  text << short_table(rows);
  const Verdict* best = searched.best();
  if (best == nullptr) return text.str() + "no schedule that was decided keeps the constraints\n";
  const auto part = [&](const char* what, const Objective& objective, std::optional<double> bound) {
    const auto value = value_in(best->row, objective);
    if (!value || !bound || *bound <= 0) return;
    text << "best " << what << " is " << fixed(100 * (*value / *bound - 1), 1)
         << " % above what no schedule of the space can beat\n";
  };
  part("DRAM reads", dram_objective, bounds.dram_read_sectors);
  part("time", time_objective, bounds.time_us);
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
      const std::string value = point.text(option.key);
      if (!value.empty()) text << option.key << " = " << value << "\n";
    }
  }
  return text.str();
}

}  // namespace sawtooth::experiments
