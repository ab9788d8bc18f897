// Text traces of other tools, line by line: CSV with columns of addresses, Dinero's input, NVBit's
// mem_trace, Accel-Sim's .traceg. What they say becomes accesses to lines of 128 bytes.
// Sources: NVBit 1.7 tools/mem_trace; Accel-Sim's README of the tracer, "traces format"; Dinero IV,
// "-informat D".
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/schedule/visit.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

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
/// CSV: the columns address (or addr; bytes) or line, of these one; cta (or block), access (or op),
/// size (bytes), step. Others are left alone. Numbers are decimal, or hexadecimal after 0x.
std::unique_ptr<ForeignFormat> foreign_format(std::string_view first_line);

// A text trace of another tool as visits to lines.
//
// Where a trace names CTAs but no times, its CTAs are streams: up to `workers` of them are in
// flight, in the order of their numbers, each makes one access a step, and one that has ended is
// followed by the next. A launch begins when the one before has ended. (Instrumented programs keep
// the order of a CTA, not the time.) Else visits come in the order of the file.

class ForeignTraceReader : public TraceReader {
 public:
  /// `workers` 0: all CTAs of a launch at once.
  ForeignTraceReader(std::istream& in, std::string name, std::unique_ptr<ForeignFormat> format,
                     const TraceLimits& limits, uint32_t workers);
  bool next(TraceVisit& visit) override;
  const TraceAtoms& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  struct Visit {
    AtomId atom;
    Access access;
  };
  struct Stream {
    uint64_t launch = 0;
    std::vector<std::vector<Visit>> accesses;  // one a record
  };

  [[noreturn]] void fail(const std::string& what) const;
  bool read_access();
  std::vector<Visit> visits_of_access();
  void read_streams();  // from the access that was read last on
  bool refill();

  std::istream& in_;
  std::string name_;
  std::unique_ptr<ForeignFormat> format_;
  TraceLimits limits_;
  uint32_t workers_;
  std::string row_;
  uint64_t row_number_ = 0;
  ForeignAccess access_;
  TraceAtoms atoms_;
  std::unordered_map<uint64_t, AtomId> atom_at_;
  TraceTotals totals_;
  std::string description_;
  bool begun_ = false;
  bool lockstep_ = false;

  struct Ready {
    Visit visit;
    uint32_t worker;
  };
  std::deque<Ready> ready_;
  uint64_t step_ = 0;

  std::vector<Stream> streams_;  // in the order in which CTAs start
  size_t next_stream_ = 0;
  struct Slot {
    size_t stream = SIZE_MAX;  // none
    size_t next = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace sawtooth::sim
