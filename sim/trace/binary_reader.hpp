// Reads the binary trace format, block by block, and believes nothing in it: a block says how many
// bytes it takes, and may not take more than the format allows.
#pragma once

#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/trace/binary_format.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/trace.hpp"

struct ZSTD_DCtx_s;

namespace sawtooth::sim {

class BinaryTraceReader : public TraceReader {
 public:
  BinaryTraceReader(std::istream& in, std::string name, const TraceLimits& limits);
  bool next(TraceVisit& visit) override;
  const TraceAtoms& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  [[noreturn]] void fail(const std::string& what) const;
  void read_bytes(std::string& bytes, size_t count);
  BlockKind read_block();
  uint64_t take();
  uint32_t take_below(uint64_t bound, const char* what);
  uint8_t take_tag();
  void define_atom();
  void read_visit(uint8_t tag, TraceVisit& visit);
  void check_end();

  std::istream& in_;
  std::string name_;
  TraceLimits limits_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> zstd_;
  std::string stored_;
  std::string block_;           // decompressed
  std::span<const char> rest_;  // of block_
  uint32_t blocks_ = 0;         // read so far
  RecordContext context_;
  TraceTotals totals_;
  uint64_t last_step_ = 0;
  TraceAtoms atoms_;
  std::string description_;
  bool ended_ = false;
};

}  // namespace sawtooth::sim
