// Which reader and which writer, those that write text, and what all must keep to.
#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

#include "scheduler/memory_units.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

/// The first line that is not empty.
std::string first_line(std::istream& in) {
  constexpr size_t most = 4096;
  std::string line;
  for (int c = in.get(); c != std::istream::traits_type::eof() && line.size() < most;
       c = in.get()) {
    if (c != '\n')
      line += static_cast<char>(c);
    else if (!line.empty() && line != "\r")
      break;
    else
      line.clear();
  }
  return line;
}

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

std::unique_ptr<TraceReader> open_trace(std::istream& in, const std::string& name,
                                        const TraceLimits& limits, uint32_t workers) {
  const auto place = in.tellg();
  auto decoded = decompressed(in, name);
  const std::string begin = first_line(decoded ? *decoded : in);
  in.clear();  // an empty file is at its end
  in.seekg(place);
  if (decoded) decoded = decompressed(in, name);
  std::istream& text = decoded ? *decoded : in;
  std::unique_ptr<TraceReader> reader;
  if (begin.starts_with(trace_magic.front()))  // no column of a CSV begins with its capital
    reader = binary_reader(text, name, limits);
  else
    reader = foreign_reader(text, name, begin, limits, workers);
  if (!reader) reader = csv_reader(text, name, limits);
  reader->keep(std::move(decoded));
  return reader;
}

bool TextLines::next() {
  // Some editors and spreadsheets put this in front of UTF-8.
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  do {
    ++number_;
    in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto taken = static_cast<size_t>(in_.gcount());
    if (in_.bad()) fail("cannot be read");
    if (taken == 0) return false;
    if (in_.fail()) fail("a row of more than " + std::to_string(longest_) + " characters");
    line_ = std::string_view(buffer_).substr(0, in_.eof() ? taken : taken - 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    if (number_ == 1 && line_.starts_with(byte_order_mark))
      line_.remove_prefix(byte_order_mark.size());
  } while (line_.empty());
  return true;
}

void TextLines::fail_at(uint64_t number, const std::string& what) const {
  throw TraceError(name_ + ":" + std::to_string(number) + ": " + what);
}

std::unique_ptr<TraceWriter> trace_writer(TraceFormat format, std::ostream& out,
                                          const std::string& description) {
  if (format == TraceFormat::binary) return binary_writer(out, description);
  if (format == TraceFormat::csv) return std::make_unique<CsvWriter>(out);
  return std::make_unique<DinWriter>(out);
}

void require_disjoint(const TraceReader& reader) {
  const TraceAtoms& atoms = reader.atoms();
  if (reader.begins_differ() && atoms.all_are_lines()) return;
  std::vector<AtomId> in_order(atoms.size());
  std::iota(in_order.begin(), in_order.end(), AtomId{0});
  const auto comes_before = [&](AtomId a, AtomId b) {
    return atoms.first_line(a) < atoms.first_line(b);
  };
  if (!std::is_sorted(in_order.begin(), in_order.end(), comes_before))
    std::sort(in_order.begin(), in_order.end(), comes_before);
  for (size_t i = 1; i < in_order.size(); ++i) {
    const TraceAtom before = atoms[in_order[i - 1]];
    const uint64_t next_line = atoms.first_line(in_order[i]);
    if (before.first_line + before.lines <= next_line) continue;
    throw TraceError("the tiles at lines " + std::to_string(before.first_line) + " and " +
                     std::to_string(next_line) +
                     " share lines; such a trace must be given by lines");
  }
}

void require_forwards(const TraceVisit& visit, const TraceAtoms& atoms) {
  if (!visit.backwards || atoms.lines(visit.atom) == 1) return;
  throw TraceError("the " + std::to_string(atoms.lines(visit.atom)) + " lines from line " +
                   std::to_string(atoms.first_line(visit.atom)) +
                   " on are visited backwards, which l2 = lru alone follows; write the trace by "
                   "lines first (--unit lines)");
}

void LineSplitter::atom(const TraceAtom& atom) {
  if (atom.lines > limits_.atoms - count_) throw TraceError(too_many_atoms(limits_));
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
