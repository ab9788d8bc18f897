// Writes the binary trace format, block by block: holds one block and four bytes an atom.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sim/trace/binary_format.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/trace.hpp"

struct ZSTD_CCtx_s;

namespace sawtooth::sim {

class BinaryTraceWriter : public TraceWriter {
 public:
  BinaryTraceWriter(std::ostream& out, const std::string& description);
  /// Both throw std::invalid_argument for what no trace may hold.
  void atom(const TraceAtom& atom) override;
  void visit(const TraceVisit& visit) override;
  void finish() override;

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  void close_full_block();
  void write_block(BlockKind kind);

  std::ostream& out_;
  std::unique_ptr<ZSTD_CCtx_s, FreeContext> zstd_;
  std::string records_;  // of the block that is open
  std::string stored_;
  RecordContext context_;
  TraceTotals totals_;
  std::vector<uint32_t> sectors_;  // of every atom
  uint32_t blocks_ = 0;
};

}  // namespace sawtooth::sim
