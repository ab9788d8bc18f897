// The readers and writers behind open_trace() and trace_writer(), and lines of a text.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

// What every trace must keep to, whatever its format: bounds that keep all later sums in 64 bits.

inline constexpr uint64_t trace_lines = uint64_t{1} << 57;  // of 128 bytes: 64 bits of address
inline constexpr uint32_t most_lines_of_an_atom = uint32_t{1} << 24;
inline constexpr uint32_t most_times = uint32_t{1} << 20;  // as many workers as a schedule may have
inline constexpr int64_t most_sectors = int64_t{1} << 62;  // of a whole trace

/// What is wrong with an atom, or nothing.
inline std::string fault_of(const TraceAtom& atom) {
  if (atom.lines < 1 || atom.lines > most_lines_of_an_atom)
    return std::to_string(atom.lines) + " lines in one visit; allowed: 1 to " +
           std::to_string(most_lines_of_an_atom);
  if (atom.first_line >= trace_lines || trace_lines - atom.first_line < atom.lines)
    return "line " + std::to_string(atom.first_line) + " is out of range; allowed: below 2^57";
  const int64_t most = int64_t{atom.lines} * sectors_per_line;
  if (atom.sectors > most || atom.sectors <= most - sectors_per_line)
    return std::to_string(atom.sectors) + " sectors in " + std::to_string(atom.lines) +
           " lines; allowed: " + std::to_string(most - sectors_per_line + 1) + " to " +
           std::to_string(most) + ", only the last line may be cut short";
  return {};
}

/// Counts a visit and the sectors it moves.
struct TraceTotals {
  uint64_t visits = 0;
  int64_t sectors = 0;

  /// What is wrong with a visit to `atom`, or nothing.
  std::string add(const TraceVisit& visit, const TraceAtom& atom) {
    if (visit.times < 1 || visit.times > most_times)
      return std::to_string(visit.times) + " times; allowed: 1 to " + std::to_string(most_times);
    const int64_t moved = int64_t{atom.sectors} * visit.times;
    if (moved > most_sectors - sectors) return "more than 2^62 sectors in all";
    sectors += moved;
    ++visits;
    return {};
  }
};

// What models ask of a trace: that no two runs of lines share a line, and, but for the exact LRU,
// that runs are visited forwards.

/// Throws TraceError that names two runs which do. `reader` has been read to its end.
void require_disjoint(const TraceReader& reader);

/// Throws TraceError where `visit` goes backwards over several lines.
void require_forwards(const TraceVisit& visit, const TraceAtoms& atoms);

/// Reads the binary format, block by block, and believes nothing in it: a block says how many bytes
/// it takes, and may not take more than the format allows.
std::unique_ptr<TraceReader> binary_reader(std::istream& in, const std::string& name,
                                           const TraceLimits& limits);
/// Reads a CSV, a row a visit. Only the column `line` must be there.
std::unique_ptr<TraceReader> csv_reader(std::istream& in, const std::string& name,
                                        const TraceLimits& limits);
/// Reads a text of another tool, line by line, as visits to lines of 128 bytes: CSV with columns of
/// addresses, Dinero's input, NVBit's mem_trace, Accel-Sim's .traceg; null where the text that
/// begins with `first_line` is none of them. CSV: one column of address (or addr; bytes), line and
/// obj (a name); cta (or block), access (or op), size (bytes), step (or time). Others are left
/// alone. Numbers are decimal, or hexadecimal after 0x. Sources: NVBit 1.7 tools/mem_trace;
/// Accel-Sim's README of the tracer, "traces format"; Dinero IV, "-informat D".
///
/// Where a trace names CTAs but no times, its CTAs are streams: up to `workers` of them are in
/// flight (0: all of a launch), in the order of their numbers, each makes one access a step, and
/// one that has ended is followed by the next. A launch begins when the one before has ended.
/// (Instrumented programs keep the order of a CTA, not the time.) Else visits come in the order of
/// the file.
std::unique_ptr<TraceReader> foreign_reader(std::istream& in, const std::string& name,
                                            std::string_view first_line, const TraceLimits& limits,
                                            uint32_t workers);

/// Writes the binary format, block by block: holds one block and four bytes an atom. atom() and
/// visit() throw std::invalid_argument for what no trace may hold.
std::unique_ptr<TraceWriter> binary_writer(std::ostream& out, const std::string& description);

// Traces as text: our CSV, and the `din` format of the Dinero IV cache simulator (Edler and Hill,
// "Dinero IV Trace-Driven Uniprocessor Cache Simulator", 1998), which others read as well; and
// visits split into lines.

enum class TraceColumn { step, worker, times, access, tensor, line, lines, sectors, direction };
inline constexpr auto trace_columns = std::to_array<std::string_view>(
    {"step", "worker", "times", "access", "tensor", "line", "lines", "sectors", "direction"});
inline constexpr auto direction_names = std::to_array<std::string_view>({"forwards", "backwards"});

/// Every line of every visit becomes a visit of its own, worker after worker, in the order in which
/// it was touched.
class LineSplitter : public TraceWriter {
 public:
  /// `lines` must outlive the splitter; more of them than `limits` allow are a TraceError.
  explicit LineSplitter(TraceWriter& lines, const TraceLimits& limits = {})
      : lines_(lines), limits_(limits) {}
  void atom(const TraceAtom& atom) override;
  void visit(const TraceVisit& visit) override;
  void finish() override { lines_.finish(); }

 private:
  TraceWriter& lines_;
  TraceLimits limits_;
  std::vector<AtomId> first_;  // number of an atom's first line
  std::vector<uint32_t> sizes_;
  AtomId count_ = 0;
};

/// Lines of a text that are not empty, without their ends and a mark of UTF-8 in front.
class TextLines {
 public:
  /// A line of more than `longest` characters is refused. `in` must outlive this.
  TextLines(std::istream& in, std::string name, size_t longest)
      : in_(in), name_(std::move(name)), longest_(longest), buffer_(longest + 1, ' ') {}

  /// Goes to the next one; false at the end.
  bool next();
  std::string_view line() const { return line_; }
  uint64_t number() const { return number_; }

  /// Throws TraceError "NAME:NUMBER: WHAT".
  [[noreturn]] void fail(const std::string& what) const { fail_at(number_, what); }
  [[noreturn]] void fail_at(uint64_t number, const std::string& what) const;

 private:
  std::istream& in_;
  std::string name_;
  size_t longest_;
  std::string buffer_;     // a line and a zero
  std::string_view line_;  // of buffer_
  uint64_t number_ = 0;
};

// Which atom begins at a line: a table of atom numbers with open addressing, 8 to 16 bytes an atom.

class AtomIndex {
 public:
  static constexpr AtomId none = UINT32_MAX;

  /// `atoms` must outlive the index.
  explicit AtomIndex(const TraceAtoms& atoms) : atoms_(atoms) {}

  /// The same as find(line), and faster where the atom is the one that was new after `before`:
  /// scans come back in the order of their first visits.
  AtomId find_after(AtomId before, uint64_t line) const {
    const size_t guess = size_t{before} + 1;
    const bool right = guess < atoms_.size() && atoms_.first_line(guess) == line;
    return right ? static_cast<AtomId>(guess) : find(line);
  }

  /// The number of the atom that begins at `line`, or none.
  AtomId find(uint64_t line) const {
    size_t place = home(line);
    while (table_[place] != none && atoms_.first_line(table_[place]) != line) place = next(place);
    return table_[place];
  }

  /// Brings into the cache what find(line) will look at.
  void fetch(uint64_t line) const { __builtin_prefetch(&table_[home(line)]); }

  /// Takes in the last of `atoms`, which begins where none before it does.
  void add_last() {
    if (2 * atoms_.size() > table_.size()) {
      --shift_;
      const size_t twice = 2 * table_.size();
      table_ = {};  // before its successor is there
      table_.assign(twice, none);
      for (size_t atom = 0; atom + 1 < atoms_.size(); ++atom) place_in_table(atom);
    }
    place_in_table(atoms_.size() - 1);
  }

 private:
  static constexpr int initial_bits = 8;
  static constexpr int group_bits = 4;  // numbers in a cache line of 64 bytes
  static constexpr int tile_bits = 7;   // lines of a common tile, whose first lines must spread too

  // Neighbouring lines are neighbours in the table, in groups that multiplicative hashing by the
  // golden ratio spreads (Knuth, TAOCP 3, 6.4).
  size_t home(uint64_t line) const {
    const uint64_t group = (line >> group_bits) * 0x9e3779b97f4a7c15 >> shift_;
    const uint64_t within = (line ^ line >> tile_bits) & ((1 << group_bits) - 1);
    return size_t(group << group_bits | within);
  }
  // The next group, and not the same place in it: a full group is left at once, and an odd step
  // comes to every place.
  size_t next(size_t place) const {
    return (place + (size_t{1} << group_bits) + 1) & (table_.size() - 1);
  }
  void place_in_table(size_t atom) {
    size_t place = home(atoms_.first_line(atom));
    while (table_[place] != none) place = next(place);
    table_[place] = static_cast<AtomId>(atom);
  }

  const TraceAtoms& atoms_;
  int shift_ = 64 + group_bits - initial_bits;
  BigVector<AtomId> table_ = BigVector<AtomId>(size_t{1} << initial_bits, none);
};

/// As a message shows it: not more than its beginning.
inline std::string quoted(std::string_view text) {
  constexpr size_t longest = 40;
  return std::string("'").append(text.substr(0, longest)).append("'");
}

/// The parts of a row between commas.
inline std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  for (size_t begin = 0;;) {
    const size_t comma = row.find(',', begin);
    cells.push_back(row.substr(begin, comma - begin));
    if (comma == std::string_view::npos) return cells;
    begin = comma + 1;
  }
}

/// What a trace with more atoms than allowed is told.
inline std::string too_many_atoms(const TraceLimits& limits) {
  return "more than " + std::to_string(limits.atoms) +
         " different tiles or lines; --most-atoms raises the limit";
}

// The numbers of the binary trace format, version 1 (docs/reference/formats.md has it in full).

inline constexpr std::string_view trace_magic = "SAWTRACE";
inline constexpr uint32_t trace_version = 1;
inline constexpr size_t trace_head_bytes = 16;  // magic, version, zero

/// Each block: kind, number from 0 on, bytes stored, bytes when decompressed; then one zstd frame.
enum class BlockKind : uint32_t { description = 1, records = 2, end = 3 };
inline constexpr size_t block_head_bytes = 16;
inline constexpr uint32_t most_block_bytes = uint32_t{1} << 20;  // decompressed

// The first byte of a record. The low two bits are the access, or 3 for an atom's definition.
inline constexpr uint8_t tag_definition = 3;
inline constexpr uint8_t tag_access = 3;  // mask
inline constexpr uint8_t tag_backwards = 1 << 2;
inline constexpr uint8_t tag_times = 1 << 3;   // a number of times follows; 1 without
inline constexpr uint8_t tag_worker = 1 << 4;  // a worker follows; the next one without
inline constexpr uint8_t tag_step = 1 << 5;    // a difference of steps follows; 0 without
inline constexpr uint8_t tag_reduce = 1 << 6;  // the access, a write, is a reduction
inline constexpr uint8_t tag_unused = 1 << 7;

/// What the next record of a block is written relative to; each block begins anew.
struct RecordContext {
  uint64_t line = 0;  // after the atom defined last
  uint64_t atom = 0;  // visited last
  uint32_t worker = 0;
  uint64_t step = 0;
};

// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit says
// that more follow (LEB128: DWARF 5, section 7.6). Signed ones are folded to 0, -1, 1, -2 ...
// first.

inline constexpr size_t longest_varint = 10;  // bytes that 64 bits take

inline void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

constexpr uint64_t folded(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unfolded(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

/// Takes a number from the front of `bytes`; false when it does not end there, or has more than 64
/// bits.
inline bool take_varint(std::span<const char>& bytes, uint64_t& value) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes.front()) < 0x80) {  // almost always
    value = static_cast<uint8_t>(bytes.front());
    bytes = bytes.subspan(1);
    return true;
  }
  value = 0;
  for (size_t i = 0; i < longest_varint && i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i + 1 == longest_varint && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace sawtooth::sim
