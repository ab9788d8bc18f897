#include <stdexcept>

#include <zstd.h>

#include "sim/trace/binary_format.hpp"
#include "sim/trace/checks.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

constexpr size_t full_block_bytes = size_t{1} << 18;  // then a block is written
constexpr int compression_level = 3;                  // zstd's default

void append_word(std::string& bytes, uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift);
}

class BinaryWriter : public TraceWriter {
 public:
  BinaryWriter(std::ostream& out, const std::string& description)
      : out_(out), zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 1);
    std::string head(trace_magic);
    append_word(head, trace_version);
    append_word(head, 0);
    out_ << head;
    if (description.size() >= full_block_bytes)
      throw std::invalid_argument("trace: a description of more than 256 KiB");
    records_ = description + '\n';
    write_block(BlockKind::description);
  }

  void atom(const TraceAtom& atom) override {
    const std::string fault = fault_of(atom);
    if (!fault.empty()) throw std::invalid_argument("trace: " + fault);
    records_ += static_cast<char>(tag_definition);
    append_varint(records_, folded(static_cast<int64_t>(atom.first_line - context_.line)));
    append_varint(records_, atom.lines);
    append_varint(records_, atom.lines * uint64_t{sectors_per_line} - atom.sectors);
    append_varint(records_, static_cast<uint64_t>(atom.tensor));
    context_.line = atom.first_line + atom.lines;
    sectors_.push_back(atom.sectors);
    close_full_block();
  }

  void visit(const TraceVisit& visit) override {
    const TraceAtom counted{.sectors = sectors_.at(visit.atom)};
    const std::string fault = totals_.add(visit, counted);
    if (!fault.empty()) throw std::invalid_argument("trace: " + fault);
    const bool reduces = visit.access == Access::reduce;
    uint8_t tag = static_cast<uint8_t>(reduces ? Access::write : visit.access);
    if (reduces) tag |= tag_reduce;
    if (visit.backwards) tag |= tag_backwards;
    if (visit.times != 1) tag |= tag_times;
    if (visit.worker != context_.worker) tag |= tag_worker;
    if (visit.step != context_.step) tag |= tag_step;
    records_ += static_cast<char>(tag);
    append_varint(records_, folded(int64_t{visit.atom} - static_cast<int64_t>(context_.atom)));
    if ((tag & tag_times) != 0) append_varint(records_, visit.times);
    if ((tag & tag_worker) != 0) append_varint(records_, visit.worker);
    if ((tag & tag_step) != 0) append_varint(records_, visit.step - context_.step);
    context_.atom = visit.atom;
    context_.worker = visit.worker + visit.times;
    context_.step = visit.step;
    close_full_block();
  }

  void finish() override {
    if (!records_.empty()) write_block(BlockKind::records);
    append_varint(records_, totals_.visits);
    append_varint(records_, sectors_.size());
    append_varint(records_, static_cast<uint64_t>(totals_.sectors));
    write_block(BlockKind::end);
  }

 private:
  void close_full_block() {
    if (records_.size() >= full_block_bytes) write_block(BlockKind::records);
  }

  void write_block(BlockKind kind) {
    stored_.resize(ZSTD_compressBound(records_.size()));
    const size_t bytes = ZSTD_compress2(zstd_.get(), stored_.data(), stored_.size(),
                                        records_.data(), records_.size());
    if (ZSTD_isError(bytes))
      throw std::runtime_error(std::string("trace: zstd: ") + ZSTD_getErrorName(bytes));
    std::string head;
    append_word(head, static_cast<uint32_t>(kind));
    append_word(head, blocks_++);
    append_word(head, static_cast<uint32_t>(bytes));
    append_word(head, static_cast<uint32_t>(records_.size()));
    out_ << head;
    out_.write(stored_.data(), static_cast<std::streamsize>(bytes));
    records_.clear();
    context_ = {};
  }

  std::ostream& out_;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd_;
  std::string records_;  // of the block that is open
  std::string stored_;
  RecordContext context_;
  TraceTotals totals_;
  std::vector<uint32_t> sectors_;  // of every atom
  uint32_t blocks_ = 0;
};

}  // namespace

std::unique_ptr<TraceWriter> binary_writer(std::ostream& out, const std::string& description) {
  return std::make_unique<BinaryWriter>(out, description);
}

}  // namespace sawtooth::sim
