// A trace: what a cache is asked for, in the order of time, without the schedule that asked for it
// (docs/reference/formats.md). Our schedules write traces for other tools, and traces of other
// tools are analysed like our schedules.
//
// Its unit is a visit: all lines of an atom once, in ascending or descending order. An atom is a
// run of neighbouring lines, such as a tile; with atoms of one line it is a line trace.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/big_pages.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// Lines first_line to first_line + lines - 1 of 128 bytes. All of them have four sectors of 32
/// bytes, but for the last, which has what `sectors` leaves: 4 (lines - 1) < sectors <= 4 lines.
struct TraceAtom {
  uint64_t first_line = 0;  // below 2^57
  uint32_t lines = 1;
  uint32_t sectors = 4;
  Tensor tensor = Tensor::other;
  friend bool operator==(const TraceAtom&, const TraceAtom&) = default;
};

/// By number. Of traces by lines there may be 10^8: eight bytes each where all are whole lines.
class TraceAtoms {
 public:
  size_t size() const { return places_.size(); }
  TraceAtom operator[](size_t number) const {
    const Size size = all_are_lines() ? one_line : sizes_[number];
    return {first_line(number), size.lines, size.sectors, tensor(number)};
  }
  Tensor tensor(size_t number) const { return static_cast<Tensor>(places_[number] >> line_bits); }
  uint64_t first_line(size_t number) const {
    return places_[number] & ((uint64_t{1} << line_bits) - 1);
  }
  uint32_t lines(size_t number) const { return all_are_lines() ? 1 : sizes_[number].lines; }
  /// Whether each is a line, and whole.
  bool all_are_lines() const { return sizes_.empty(); }

  void push_back(const TraceAtom& atom) {
    const Size size{atom.lines, atom.sectors};
    if (all_are_lines() && size != one_line) sizes_.assign(places_.size(), one_line);
    places_.push_back(atom.first_line | static_cast<uint64_t>(atom.tensor) << line_bits);
    if (!all_are_lines() || size != one_line) sizes_.push_back(size);
  }

 private:
  struct Size {
    uint32_t lines = 0;
    uint32_t sectors = 0;
    friend bool operator==(const Size&, const Size&) = default;
  };
  static constexpr Size one_line{1, 4};
  static constexpr int line_bits = 57;
  static_assert(tensor_count <= 1 << (64 - line_bits));

  BigVector<uint64_t> places_;  // tensor and first line
  BigVector<Size> sizes_;       // empty while all are whole lines
};

/// `times` visits to atom number `atom` in direct succession, by workers `worker`, `worker` + 1 ...
struct TraceVisit {
  AtomId atom = 0;
  Access access = Access::read;
  bool backwards = false;
  uint32_t times = 1;
  uint32_t worker = 0;
  uint64_t step = 0;  // never less than the step before
  friend bool operator==(const TraceVisit&, const TraceVisit&) = default;
};

/// What a trace may ask of the memory of those who read it.
struct TraceLimits {
  uint32_t atoms = uint32_t{1} << 24;  // and as many bins of a histogram; about 40 bytes each
};

/// One line that names the trace, the place in it, and what is wrong or allowed.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class TraceReader {
 public:
  virtual ~TraceReader() = default;
  /// Reads the next visit; false at the end. Its atom is one of atoms(). Throws TraceError for
  /// what is no trace, or is more than the limits allow.
  virtual bool next(TraceVisit& visit) = 0;
  /// The atoms seen so far, in the order of their first visits.
  virtual const TraceAtoms& atoms() const = 0;
  /// Whether no two of them begin at one line; false where that was not checked.
  virtual bool begins_differ() const { return false; }
  /// Lines "key = value" about where the trace comes from; may be empty.
  virtual const std::string& description() const = 0;

  /// The stream that is read lives as long as the reader.
  void keep(std::unique_ptr<std::istream> stream) { stream_ = std::move(stream); }

 private:
  std::unique_ptr<std::istream> stream_;
};

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  /// Gives the next atom its number, from 0 on. Visits to it follow.
  virtual void atom(const TraceAtom& atom) = 0;
  virtual void visit(const TraceVisit& visit) = 0;
  /// Writes what is still held back and the end. The caller sees to errors of its stream.
  virtual void finish() = 0;
};

/// Reads a binary trace, a CSV, or a text of another tool (readers.hpp), each also in gzip
/// or zstd, told apart by the beginning; `name` begins error messages. Traces that are streams of
/// CTAs without times have `workers` of them at once, 0: all. `in` must outlive the reader.
std::unique_ptr<TraceReader> open_trace(std::istream& in, const std::string& name,
                                        const TraceLimits& limits, uint32_t workers = 0);

enum class TraceFormat : uint8_t { binary, csv, din };

/// `out` must outlive the writer. Only the binary format holds a description.
std::unique_ptr<TraceWriter> trace_writer(TraceFormat format, std::ostream& out,
                                          const std::string& description);

// gzip and zstd in front of any trace.

/// A stream of what `in` holds compressed, null when its first bytes are of neither format. What is
/// damaged throws TraceError that begins with `name`; a program without zlib says so of gzip. `in`
/// must outlive it.
std::unique_ptr<std::istream> decompressed(std::istream& in, const std::string& name);

}  // namespace sawtooth::sim
