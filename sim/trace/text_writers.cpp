#include <charconv>
#include <string>

#include "scheduler/memory_units.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

/// What both formats share: a visit is written at once, in terms of the atoms named before it.
class TextWriter : public TraceWriter {
 public:
  explicit TextWriter(std::ostream& stream) : out_(stream) {}
  void atom(const TraceAtom& atom) final { atoms_.push_back(atom); }
  void finish() final {}

 protected:
  std::ostream& out_;
  TraceAtoms atoms_;
};

class CsvWriter : public TextWriter {
 public:
  explicit CsvWriter(std::ostream& stream) : TextWriter(stream) {
    for (size_t i = 0; i < trace_columns.size(); ++i)
      out_ << (i == 0 ? "" : ",") << trace_columns[i];
    out_ << '\n';
  }

  void visit(const TraceVisit& visit) override {
    const TraceAtom atom = atoms_[visit.atom];
    std::string row = std::to_string(visit.step);
    row.append(",").append(std::to_string(visit.worker));
    row.append(",").append(std::to_string(visit.times));
    row.append(",").append(access_names[static_cast<size_t>(visit.access)]);
    row.append(",").append(tensor_names[static_cast<size_t>(atom.tensor)]);
    row.append(",").append(std::to_string(atom.first_line));
    row.append(",").append(std::to_string(atom.lines));
    row.append(",").append(std::to_string(atom.sectors));
    row.append(",").append(direction_names[visit.backwards ? 1 : 0]);
    out_ << row << '\n';
  }
};

/// A row a line: 0 (read) or 1 (write), and the byte address in hexadecimal. A prefetch is a read.
class DinWriter : public TextWriter {
 public:
  using TextWriter::TextWriter;

  void visit(const TraceVisit& visit) override {
    const TraceAtom atom = atoms_[visit.atom];
    const bool writes = visit.access == Access::write || visit.access == Access::reduce;
    for (uint32_t time = 0; time < visit.times; ++time) {
      for (uint32_t i = 0; i < atom.lines; ++i) {
        const uint64_t line = atom.first_line + (visit.backwards ? atom.lines - 1 - i : i);
        char digits[16];
        const auto [end, error] =
            std::to_chars(digits, digits + sizeof digits, line * line_bytes, 16);
        out_ << (writes ? "1 " : "0 ")
             << std::string_view(digits, static_cast<size_t>(end - digits)) << '\n';
      }
    }
  }
};

}  // namespace

std::unique_ptr<TraceWriter> text_writer(TraceFormat format, std::ostream& out) {
  if (format == TraceFormat::csv) return std::make_unique<CsvWriter>(out);
  return std::make_unique<DinWriter>(out);
}

void LineSplitter::atom(const TraceAtom& atom) {
  first_.push_back(count_);
  sizes_.push_back(atom.lines);
  count_ += atom.lines;
  uint32_t sectors = atom.sectors;
  for (uint32_t i = 0; i < atom.lines; ++i) {
    const uint32_t own = std::min(sectors, uint32_t{sectors_per_line});
    lines_.atom({atom.first_line + i, 1, own, atom.tensor});
    sectors -= own;
  }
}

void LineSplitter::visit(const TraceVisit& visit) {
  TraceVisit line = visit;
  line.times = 1;
  line.backwards = false;
  const uint32_t size = sizes_.at(visit.atom);
  for (uint32_t time = 0; time < visit.times; ++time) {
    line.worker = visit.worker + time;
    for (uint32_t i = 0; i < size; ++i) {
      line.atom = first_[visit.atom] + (visit.backwards ? size - 1 - i : i);
      lines_.visit(line);
    }
  }
}

}  // namespace sawtooth::sim
