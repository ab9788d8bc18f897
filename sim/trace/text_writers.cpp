#include "sim/trace/text_writers.hpp"

#include <charconv>
#include <string>

#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

CsvTraceWriter::CsvTraceWriter(std::ostream& stream) : TextTraceWriter(stream) {
  for (size_t i = 0; i < trace_columns.size(); ++i)
    out() << (i == 0 ? "" : ",") << trace_columns[i];
  out() << '\n';
}

void CsvTraceWriter::visit(const TraceVisit& visit) {
  const TraceAtom atom = atom_at(visit.atom);
  std::string row = std::to_string(visit.step);
  row.append(",").append(std::to_string(visit.worker));
  row.append(",").append(std::to_string(visit.times));
  row.append(",").append(access_names[static_cast<size_t>(visit.access)]);
  row.append(",").append(tensor_names[static_cast<size_t>(atom.tensor)]);
  row.append(",").append(std::to_string(atom.first_line));
  row.append(",").append(std::to_string(atom.lines));
  row.append(",").append(std::to_string(atom.sectors));
  row.append(",").append(direction_names[visit.backwards ? 1 : 0]);
  out() << row << '\n';
}

void DinTraceWriter::visit(const TraceVisit& visit) {
  const TraceAtom atom = atom_at(visit.atom);
  for (uint32_t time = 0; time < visit.times; ++time) {
    for (uint32_t i = 0; i < atom.lines; ++i) {
      const uint64_t line = atom.first_line + (visit.backwards ? atom.lines - 1 - i : i);
      char digits[16];
      const auto [end, error] =
          std::to_chars(digits, digits + sizeof digits, line * line_bytes, 16);
      const bool writes = visit.access == Access::write || visit.access == Access::reduce;
      out() << (writes ? "1 " : "0 ") << std::string_view(digits, static_cast<size_t>(end - digits))
            << '\n';
    }
  }
}

}  // namespace sawtooth::sim
