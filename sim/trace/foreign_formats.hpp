// Text traces of other tools, line by line: CSV with columns of addresses, Dinero's input, NVBit's
// mem_trace, Accel-Sim's .traceg. What they say becomes accesses to lines of 128 bytes.
// Sources: NVBit 1.7 tools/mem_trace; Accel-Sim's README of the tracer, "traces format"; Dinero IV,
// "-informat D".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/schedule/visit.hpp"

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

}  // namespace sawtooth::sim
