#include "experiments/studies/speed/ladder/table.hpp"

#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "cupti/metric_host.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments::ladder {
namespace {

std::optional<double> value_of(const Row& row, std::string_view column) {
  for (std::size_t i = 0; i < counters.size(); ++i)
    if (counters[i].column == column) return row.counters[i];
  return std::nullopt;
}

/// "-" for what was not measured.
std::string shown(std::optional<double> value, int digits) {
  return value ? fixed(*value, digits) : "-";
}

std::optional<double> conflict_percent(const Row& row) {
  const auto conflicts = value_of(row, "bank_conflicts");
  const auto wavefronts = value_of(row, "shared_wavefronts");
  if (!conflicts || !wavefronts || *wavefronts == 0) return std::nullopt;
  return 100 * *conflicts / *wavefronts;
}

const char* type_name(ElementType type) {
  return type == ElementType::fp16 ? "fp16" : "bf16";
}

using Cells = std::vector<std::pair<std::string, std::string>>;  // column and text

Cells cells_of(const std::string& gpu, const Problem& problem, const Row& row) {
  const auto whole = [](auto value) { return std::to_string(value); };
  Cells cells{{"gpu", gpu},
              {"kernel", "ladder-" + whole(row.level.number)},
              {"name", std::string(row.level.name)},
              {"batch", whole(problem.batch)},
              {"heads", whole(problem.heads)},
              {"seq", whole(problem.seq_q)},
              {"head_dim", whole(problem.head_dim)},
              {"dtype", type_name(problem.dtype)},
              {"output_error", shortest(row.output_error)},
              {"allowed_error", shortest(row.allowed_error)},
              {"time_us", shortest(row.time_us)},
              {"fastest_us", shortest(row.fastest_us)},
              {"slowest_us", shortest(row.slowest_us)},
              {"tflops", shortest(row.tflops)},
              {"registers", whole(row.footprint.registers)},
              {"spill_bytes", whole(row.footprint.spill_bytes)},
              {"shared_bytes", whole(row.footprint.shared_bytes)},
              {"ctas_per_sm", whole(row.footprint.ctas_per_sm)}};
  for (std::size_t i = 0; i < counters.size(); ++i)
    cells.emplace_back(counters[i].column, row.counters[i] ? shortest(*row.counters[i]) : "");
  cells.emplace_back("status", row.status);
  return cells;
}

}  // namespace

std::vector<std::size_t> available_counters(const std::string& chip) {
  std::vector<std::size_t> available;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    try {
      cupti::passes_of(chip, {std::string(counters[i].metric)});
      available.push_back(i);
    } catch (const cupti::CounterError& error) {
      const bool missing = error.status() == cupti::Status::unknown_metric ||
                           error.status() == cupti::Status::metric_not_schedulable;
      if (!missing) throw;
    }
  }
  return available;
}

void print_table(std::ostream& out, const Problem& problem, const std::vector<Row>& rows) {
  out << "B" << problem.batch << " H" << problem.heads << " S" << problem.seq_q << " D"
      << problem.head_dim << " " << type_name(problem.dtype) << "\n"
      << "level       error    allowed       us  TFLOP/s  registers  CTAs/SM  conflicts %  "
         "eligible  issue %  occupancy %\n";
  for (const Row& row : rows) {
    const auto cell = [&](int width, const std::string& text) { out << std::setw(width) << text; };
    out << row.level.number << " " << std::left << std::setw(9) << row.level.name << std::right;
    std::ostringstream errors;
    errors << std::scientific << std::setprecision(1) << row.output_error << "  "
           << row.allowed_error;
    cell(17, errors.str());
    cell(10, shown(row.time_us, 1));
    cell(9, shown(row.tflops, 1));
    cell(11, std::to_string(row.footprint.registers));
    cell(9, std::to_string(row.footprint.ctas_per_sm));
    cell(13, shown(conflict_percent(row), 2));
    cell(10, shown(value_of(row, "eligible_warps"), 2));
    cell(9, shown(value_of(row, "issue_active_pct"), 1));
    cell(13, shown(value_of(row, "achieved_occupancy_pct"), 1));
    out << "\n";
  }
}

void write_csv(std::ostream& out, const std::string& gpu, const Problem& problem,
               const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CsvRow header, line;
    for (const auto& [column, text] : cells_of(gpu, problem, row)) {
      header.push_back(column);
      line.push_back(text);
    }
    if (&row == &rows.front()) out << csv_line(header);
    out << csv_line(line);
  }
}

}  // namespace sawtooth::experiments::ladder
