// Reads and writes the binary format.
#include <span>
#include <stdexcept>

#include <zstd.h>

#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

uint32_t word_at(const std::string& bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return word;
}

class BinaryReader : public TraceReader {
 public:
  BinaryReader(std::istream& in, const std::string& name, const TraceLimits& limits)
      : in_(in), name_(name), limits_(limits), zstd_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    std::string head;
    read_bytes(head, trace_head_bytes);
    if (!head.starts_with(trace_magic)) throw TraceError(name_ + ": is no trace");
    const uint32_t version = word_at(head, trace_magic.size());
    if (version != trace_version || word_at(head, trace_magic.size() + 4) != 0)
      throw TraceError(name_ + ": is a trace of version " + std::to_string(version) +
                       "; this program reads version " + std::to_string(trace_version));
    if (read_block() != BlockKind::description) fail("the first block is no description");
    description_ = block_;
    rest_ = {};
  }

  bool next(TraceVisit& visit) override {
    while (!ended_) {
      while (!rest_.empty()) {
        const uint8_t tag = take_tag();
        if ((tag & tag_access) != tag_definition) {
          read_visit(tag, visit);
          return true;
        }
        if (tag != tag_definition) fail("a definition with unknown flags");
        define_atom();
      }
      const BlockKind kind = read_block();
      if (kind == BlockKind::description) fail("a second description");
      if (kind == BlockKind::end) check_end();
    }
    return false;
  }
  const TraceAtoms& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw TraceError(name_ + ": block " + std::to_string(blocks_) + ": " + what);
  }

  void read_bytes(std::string& bytes, size_t count) {
    bytes.resize(count);
    in_.read(bytes.data(), static_cast<std::streamsize>(count));
    if (static_cast<size_t>(in_.gcount()) != count) fail("the file ends here, it was cut off");
  }

  BlockKind read_block() {
    std::string head;
    read_bytes(head, block_head_bytes);
    const uint32_t kind = word_at(head, 0);
    const uint32_t stored = word_at(head, 8);
    const uint32_t bytes = word_at(head, 12);
    if (kind < uint32_t(BlockKind::description) || kind > uint32_t(BlockKind::end) ||
        word_at(head, 4) != blocks_)
      fail("its head is damaged");
    if (bytes < 1 || bytes > most_block_bytes || stored > ZSTD_compressBound(bytes))
      fail("claims " + std::to_string(bytes) + " bytes, " + std::to_string(stored) +
           " compressed; allowed: up to " + std::to_string(most_block_bytes));
    read_bytes(stored_, stored);
    block_.resize(bytes);
    const size_t written =
        ZSTD_decompressDCtx(zstd_.get(), block_.data(), bytes, stored_.data(), stored);
    if (ZSTD_isError(written)) fail(std::string("is damaged, zstd: ") + ZSTD_getErrorName(written));
    if (written != bytes) fail("is shorter than it claims");
    ++blocks_;
    rest_ = block_;
    context_ = {};
    return static_cast<BlockKind>(kind);
  }

  uint64_t take() {
    uint64_t value = 0;
    if (!take_varint(rest_, value)) fail("a number that does not end");
    return value;
  }

  uint32_t take_below(uint64_t bound, const char* what) {
    const uint64_t value = take();
    if (value >= bound)
      fail(std::string(what) + " " + std::to_string(value) + "; allowed: below " +
           std::to_string(bound));
    return static_cast<uint32_t>(value);
  }

  uint8_t take_tag() {
    const auto tag = static_cast<uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    if ((tag & tag_unused) != 0) fail("a record of an unknown kind");
    return tag;
  }

  void define_atom() {
    if (atoms_.size() >= limits_.atoms) fail(too_many_atoms(limits_));
    TraceAtom atom;
    atom.first_line = context_.line + static_cast<uint64_t>(unfolded(take()));
    atom.lines = take_below(uint64_t{most_lines_of_an_atom} + 1, "lines of a tile:");
    const uint32_t missing = take_below(sectors_per_line, "missing sectors:");
    atom.sectors = atom.lines * uint32_t{sectors_per_line} - missing;
    atom.tensor = static_cast<Tensor>(take_below(tensor_count, "tensor"));
    const std::string fault = fault_of(atom);
    if (!fault.empty()) fail(fault);
    context_.line = atom.first_line + atom.lines;
    atoms_.push_back(atom);
  }

  void read_visit(uint8_t tag, TraceVisit& visit) {
    const uint64_t atom = context_.atom + static_cast<uint64_t>(unfolded(take()));
    if (atom >= atoms_.size()) fail("a visit to a tile that is not defined");
    visit.atom = static_cast<AtomId>(atom);
    visit.access = static_cast<Access>(tag & tag_access);
    if ((tag & tag_reduce) != 0) {
      if (visit.access != Access::write) fail("a reduction that is no write");
      visit.access = Access::reduce;
    }
    visit.backwards = (tag & tag_backwards) != 0;
    visit.times = (tag & tag_times) != 0 ? take_below(uint64_t{most_times} + 1, "times:") : 1;
    visit.worker =
        (tag & tag_worker) != 0 ? take_below(uint64_t{1} << 32, "worker") : context_.worker;
    const uint64_t steps = (tag & tag_step) != 0 ? take() : 0;
    visit.step = context_.step + steps;
    if (visit.step < steps || visit.step < last_step_) fail("a step goes back in time");
    const std::string fault = totals_.add(visit, atoms_[visit.atom]);
    if (!fault.empty()) fail(fault);
    context_.atom = atom;
    context_.worker = visit.worker + visit.times;
    context_.step = last_step_ = visit.step;
  }

  void check_end() {
    const bool same = take() == totals_.visits && take() == atoms_.size() &&
                      take() == static_cast<uint64_t>(totals_.sectors);
    if (!same || !rest_.empty()) fail("the counts at the end are not those of the trace");
    if (in_.peek() != std::istream::traits_type::eof()) fail("bytes follow the end");
    ended_ = true;
  }

  std::istream& in_;
  std::string name_;
  TraceLimits limits_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_;
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

std::unique_ptr<TraceReader> binary_reader(std::istream& in, const std::string& name,
                                           const TraceLimits& limits) {
  return std::make_unique<BinaryReader>(in, name, limits);
}

std::unique_ptr<TraceWriter> binary_writer(std::ostream& out, const std::string& description) {
  return std::make_unique<BinaryWriter>(out, description);
}

}  // namespace sawtooth::sim
