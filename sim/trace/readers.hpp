// The readers and writers behind open_trace() and trace_writer(), and lines of a text.
#pragma once

#include <array>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

// Text traces of other tools, line by line: CSV with columns of addresses, Dinero's input, NVBit's
// mem_trace, Accel-Sim's .traceg. What they say becomes accesses to lines of 128 bytes.
// Sources: NVBit 1.7 tools/mem_trace; Accel-Sim's README of the tracer, "traces format"; Dinero IV,
// "-informat D".

/// One record: a warp's instruction, or a row.
struct ForeignAccess {
  uint64_t launch = 0;
  std::array<uint32_t, 3> cta{};  // x, y, z
  uint32_t warp = 0;
  Access access = Access::read;
  std::vector<uint64_t> lines;  // of 128 bytes, each once, in the order of the threads
};

class ForeignFormat {
 public:
  virtual ~ForeignFormat() = default;
  /// Reads one line of text; false when it holds no access. Throws std::invalid_argument, with what
  /// is wrong, for a line that the format does not have.
  virtual bool parse(std::string_view line, ForeignAccess& access) = 0;
  /// The trace names CTAs but not times, so that CTAs are streams of their own.
  virtual bool has_streams() const = 0;
  /// Warps of a CTA follow each other in the file although they ran side by side.
  virtual bool warps_apart() const { return false; }
};

/// The format of a text that begins with this line; null when it is none of them.
/// CSV: one column of address (or addr; bytes), line and obj (a name); cta (or block), access (or
/// op), size (bytes), step (or time). Others are left alone. Numbers are decimal, or hexadecimal
/// after 0x.
std::unique_ptr<ForeignFormat> foreign_format(std::string_view first_line);

/// Reads the binary format, block by block, and believes nothing in it: a block says how many bytes
/// it takes, and may not take more than the format allows.
std::unique_ptr<TraceReader> binary_reader(std::istream& in, const std::string& name,
                                           const TraceLimits& limits);
/// Reads a CSV, a row a visit. Only the column `line` must be there.
std::unique_ptr<TraceReader> csv_reader(std::istream& in, const std::string& name,
                                        const TraceLimits& limits);
/// Reads a text of another tool as visits to lines.
///
/// Where a trace names CTAs but no times, its CTAs are streams: up to `workers` of them are in
/// flight (0: all of a launch), in the order of their numbers, each makes one access a step, and
/// one that has ended is followed by the next. A launch begins when the one before has ended.
/// (Instrumented programs keep the order of a CTA, not the time.) Else visits come in the order of
/// the file.
std::unique_ptr<TraceReader> foreign_reader(std::istream& in, const std::string& name,
                                            std::unique_ptr<ForeignFormat> format,
                                            const TraceLimits& limits, uint32_t workers);

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

/// `format` is no binary one.
std::unique_ptr<TraceWriter> text_writer(TraceFormat format, std::ostream& out);

/// Every line of every visit becomes a visit of its own, worker after worker, in the order in which
/// it was touched.
class LineSplitter : public TraceWriter {
 public:
  /// `lines` must outlive the splitter.
  explicit LineSplitter(TraceWriter& lines) : lines_(lines) {}
  void atom(const TraceAtom& atom) override;
  void visit(const TraceVisit& visit) override;
  void finish() override { lines_.finish(); }

 private:
  TraceWriter& lines_;
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

}  // namespace sawtooth::sim
