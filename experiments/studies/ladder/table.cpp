#include "experiments/studies/ladder/table.hpp"

#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>

namespace sawtooth::experiments::ladder {
namespace {

std::optional<double> value_of(const Row& row, std::string_view column) {
  for (std::size_t i = 0; i < counters.size(); ++i)
    if (counters[i].column == column) return row.counters[i];
  return std::nullopt;
}

/// "-" for what was not measured.
std::string shown(std::optional<double> value, int digits) {
  if (!value) return "-";
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << *value;
  return text.str();
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

}  // namespace

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
  out << "gpu,kernel,name,batch,heads,seq,head_dim,dtype,output_error,allowed_error,time_us,"
         "fastest_us,slowest_us,tflops,registers,spill_bytes,shared_bytes,ctas_per_sm";
  for (const Counter& counter : counters) out << "," << counter.column;
  out << ",status\n";
  out << std::setprecision(std::numeric_limits<double>::max_digits10);
  for (const Row& row : rows) {
    out << gpu << ",ladder-" << row.level.number << "," << row.level.name << "," << problem.batch
        << "," << problem.heads << "," << problem.seq_q << "," << problem.head_dim << ","
        << type_name(problem.dtype) << "," << row.output_error << "," << row.allowed_error << ","
        << row.time_us << "," << row.fastest_us << "," << row.slowest_us << "," << row.tflops << ","
        << row.footprint.registers << "," << row.footprint.spill_bytes << ","
        << row.footprint.shared_bytes << "," << row.footprint.ctas_per_sm;
    for (const auto& value : row.counters) {
      out << ",";
      if (value) out << *value;
    }
    out << "," << row.status << "\n";
  }
}

}  // namespace sawtooth::experiments::ladder
