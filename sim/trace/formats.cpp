// Which reader and which writer, and what all must keep to.
#include <algorithm>
#include <numeric>

#include "sim/trace/binary_format.hpp"
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
  else if (auto format = foreign_format(begin))
    reader = foreign_reader(text, name, std::move(format), limits, workers);
  else
    reader = csv_reader(text, name, limits);
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
  return format == TraceFormat::binary ? binary_writer(out, description) : text_writer(format, out);
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

}  // namespace sawtooth::sim
