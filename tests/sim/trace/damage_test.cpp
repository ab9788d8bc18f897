// Traces that are cut off, damaged or hostile: one line that says so, and bounded memory.
#include <gmock/gmock.h>

#include "sim/trace/readers.hpp"
#include "tests/support/compressed.hpp"
#include "tests/support/property.hpp"
#include "tests/support/traces.hpp"

namespace sawtooth::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::read_trace;
using tests::text_of;
using tests::Trace;

std::string error_of(const std::string& text, const TraceLimits& limits = {}) {
  try {
    read_trace(text, limits);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Trace small_trace() {
  Trace trace;
  trace.atoms = {{0, 4, 16, Tensor::k}, {64, 2, 5, Tensor::v}};
  trace.visits = {{.atom = 0, .times = 4, .worker = 2, .step = 1},
                  {.atom = 1, .access = Access::write, .step = 1},
                  {.atom = 0, .backwards = true, .step = 9}};
  return trace;
}

std::string word(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string head() {
  return std::string(trace_magic) + word(trace_version) + word(0);
}

std::string block(BlockKind kind, uint32_t number, const std::string& content) {
  const std::string stored = tests::compressed(content);
  return word(static_cast<uint32_t>(kind)) + word(number) +
         word(static_cast<uint32_t>(stored.size())) + word(static_cast<uint32_t>(content.size())) +
         stored;
}

std::string with_records(const std::string& records) {
  return head() + block(BlockKind::description, 0, "\n") + block(BlockKind::records, 1, records);
}

std::string numbers(std::initializer_list<uint64_t> values) {
  std::string bytes;
  for (const uint64_t value : values) append_varint(bytes, value);
  return bytes;
}

TEST(DamagedTrace, CutOffAtAnyByteIsRefused) {
  const std::string whole = text_of(TraceFormat::binary, small_trace());
  for (size_t bytes = 1; bytes < whole.size(); ++bytes)
    EXPECT_THAT(error_of(whole.substr(0, bytes)), HasSubstr("the file ends here, it was cut off"))
        << bytes;
}

// zstd has a bit that nothing uses, and more than one way to store a single byte.
TEST(DamagedTrace, AnyBitThatFlipsIsNoticedOrChangesNothing) {
  const Trace trace = small_trace();
  const std::string whole = text_of(TraceFormat::binary, trace);
  size_t noticed = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    try {
      const Trace back = read_trace(damaged);
      EXPECT_EQ(back.atoms, trace.atoms) << "byte " << bit / 8;
      EXPECT_EQ(back.visits, trace.visits) << "byte " << bit / 8;
    } catch (const TraceError&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, 8 * whole.size() * 98 / 100);
}

TEST(DamagedTrace, BlocksThatAreMissingDoubledOrSwappedAreNoticed) {
  const std::string begin = head() + block(BlockKind::description, 0, "\n");
  const std::string define = numbers({3, 0, 1, 0, 0});
  const std::string end = numbers({0, 1, 0});
  const auto records = [&](uint32_t n) { return block(BlockKind::records, n, define); };
  EXPECT_EQ(error_of(begin + records(1) + block(BlockKind::end, 2, end)), "nothing was thrown");
  EXPECT_THAT(error_of(begin + block(BlockKind::end, 1, end)), HasSubstr("the counts at the end"));
  EXPECT_THAT(error_of(begin + records(2)), HasSubstr("block 1: its head is damaged"));
  EXPECT_THAT(error_of(begin + records(1) + records(1)), HasSubstr("block 2: its head is damaged"));
  EXPECT_THAT(error_of(begin + block(BlockKind::description, 1, "\n")),
              HasSubstr("a second description"));
  EXPECT_THAT(error_of(head() + block(BlockKind::records, 0, define)),
              HasSubstr("the first block is no description"));
  EXPECT_THAT(error_of(begin + records(1) + block(BlockKind::end, 2, end) + "x"),
              HasSubstr("bytes follow the end"));
}

TEST(DamagedTrace, ABlockMayNotClaimMoreThanTheFormatAllows) {
  EXPECT_THAT(error_of(head() + word(1) + word(0) + word(10) + word(0xffffffff)),
              HasSubstr("claims 4294967295 bytes, 10 compressed; allowed: up to 1048576"));
  EXPECT_THAT(error_of(head() + word(1) + word(0) + word(0xffffffff) + word(100)),
              HasSubstr("claims 100 bytes, 4294967295 compressed"));
}

TEST(DamagedTrace, AFrameThatHoldsMoreThanItsBlockClaimsIsRefused) {
  std::string bomb = block(BlockKind::description, 0, std::string(1 << 20, 'x'));
  bomb.replace(12, 4, word(1000));  // of what is a megabyte
  EXPECT_THAT(error_of(head() + bomb), HasSubstr("is damaged, zstd"));
}

TEST(DamagedTrace, AnotherVersionIsNamed) {
  EXPECT_EQ(error_of(std::string(trace_magic) + word(2) + word(0)),
            "t: is a trace of version 2; this program reads version 1");
}

TEST(DamagedTrace, CountsOfExabytesAreRefusedBeforeTheyAreAdded) {
  // Definition: line 0, lines, missing sectors, tensor. Visit: tag, atom, times.
  const uint64_t most = uint64_t{1} << 24;
  EXPECT_THAT(error_of(with_records(numbers({3, 0, uint64_t{1} << 60, 0, 0}))),
              HasSubstr("lines of a tile: 1152921504606846976; allowed: below 16777217"));
  EXPECT_THAT(error_of(with_records(numbers({3, 0, 0, 0, 0}))), HasSubstr("0 lines in one visit"));
  EXPECT_THAT(error_of(with_records(numbers({3, uint64_t{1} << 58, 1, 0, 0}))),
              HasSubstr("is out of range; allowed: below 2^57"));
  EXPECT_THAT(error_of(with_records(numbers({3, 1, 1, 0, 0}))), HasSubstr("is out of range"));
  EXPECT_THAT(error_of(with_records(numbers({3, 0, 1, 4, 0}))), HasSubstr("missing sectors: 4"));
  EXPECT_THAT(error_of(with_records(numbers({3, 0, 1, 0, uint64_t{tensor_count}}))),
              HasSubstr("tensor " + std::to_string(tensor_count)));
  const std::string large = numbers({3, 0, most, 0, 0});
  EXPECT_THAT(error_of(with_records(large + numbers({tag_times, 0, uint64_t{1} << 60}))),
              HasSubstr("times: 1152921504606846976"));
  EXPECT_THAT(error_of(with_records(large + numbers({tag_times, 0, 0}))), HasSubstr("0 times"));
  // 2^26 sectors 2^20 times are 2^46; 2^16 such visits are 2^62, one more is too much.
  std::string many = large;
  for (int i = 0; i <= 1 << 16; ++i) many += numbers({tag_times, 0, uint64_t{1} << 20});
  EXPECT_THAT(error_of(with_records(many)), HasSubstr("more than 2^62 sectors in all"));
}

TEST(DamagedTrace, RecordsThatMakeNoSenseAreRefused) {
  const std::string define = numbers({3, 0, 1, 0, 0});
  EXPECT_THAT(error_of(with_records(numbers({0, 0}))), HasSubstr("a tile that is not defined"));
  EXPECT_THAT(error_of(with_records(define + numbers({0, 1}))),
              HasSubstr("a tile that is not defined"));
  EXPECT_THAT(error_of(with_records(numbers({128}))), HasSubstr("a record of an unknown kind"));
  EXPECT_THAT(error_of(with_records(define + numbers({tag_reduce, 0}))),
              HasSubstr("a reduction that is no write"));
  EXPECT_THAT(error_of(with_records(numbers({7}))), HasSubstr("unknown flags"));
  EXPECT_THAT(error_of(with_records(std::string(1, '\x03'))),
              HasSubstr("a number that does not end"));
  EXPECT_THAT(error_of(with_records(define + numbers({tag_step, 0, 5, tag_step, 0, ~uint64_t{0}}))),
              HasSubstr("a step goes back in time"));
}

// A megabyte of records a block, each of which compresses to next to nothing.
TEST(DamagedTrace, ABombOfLinesEndsAtTheLimit) {
  std::string records;
  for (int i = 0; i < 100'000; ++i) records += numbers({3, 0, 1, 0, 0});
  std::string bomb = head() + block(BlockKind::description, 0, "\n");
  for (uint32_t b = 1; b <= 20; ++b) bomb += block(BlockKind::records, b, records);
  EXPECT_LT(bomb.size(), size_t{10'000});
  EXPECT_EQ(error_of(bomb, {.atoms = 1000}),
            "t: block 2: more than 1000 different tiles or lines; --most-atoms raises the limit");
}

RC_GTEST_PROP(DamagedTrace, AnyBytesAreATraceOrATraceError, (const std::string& bytes)) {
  for (const std::string& text :
       {bytes, head() + bytes, with_records(bytes + '\0'), "line,lines,step\n" + bytes}) {
    try {
      read_trace(text, {.atoms = 100});
    } catch (const TraceError& error) {
      RC_ASSERT(std::string(error.what()).starts_with("t:"));
    }
  }
}

TEST(DamagedCsvTrace, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of(""), "t:1: the file is empty");
  EXPECT_EQ(error_of("step\n1\n"), "t:1: there is no column 'line'");
  EXPECT_EQ(error_of("line,line\n"), "t:1: column 'line' is there twice");
  EXPECT_EQ(error_of("line,colour\n"),
            "t:1: 'colour' is no column of a trace; allowed: step worker times access tensor line "
            "lines sectors direction");
  EXPECT_EQ(error_of("line\n1\n2,3\n"), "t:3: 2 cells; the header has 1");
  EXPECT_EQ(error_of("line\n0x10\n"),
            "t:2: line: '0x10' is not allowed; allowed: a whole number below 144115188075855872");
  EXPECT_EQ(error_of("line\n-1\n").substr(0, 13), "t:2: line: '-");
  EXPECT_EQ(error_of("line,access\n1,load\n"),
            "t:2: access: 'load' is not allowed; allowed: read write prefetch reduce");
  EXPECT_EQ(error_of("line,step\n1,5\n1,4\n"), "t:3: step 4 goes back in time");
  EXPECT_EQ(error_of("line,lines\n1,5\n\n1,4\n"),
            "t:4: the tile at line 1 was another one before; its lines, sectors and tensor must "
            "stay");
  EXPECT_EQ(error_of("line,lines,sectors\n1,2,4\n"),
            "t:2: 4 sectors in 2 lines; allowed: 5 to 8, only the last line may be cut short");
  EXPECT_EQ(error_of("line,lines\n1,0\n"), "t:2: 0 lines in one visit; allowed: 1 to 16777216");
  EXPECT_EQ(error_of("line\n\"1\"\n"),
            "t:2: a quote or a zero byte; a trace has plain numbers and names only");
  EXPECT_EQ(error_of("line\n" + std::string(1025, '1') + "\n"),
            "t:2: a row of more than 1024 characters");
  EXPECT_EQ(error_of("line\n1\n2\n", {.atoms = 1}),
            "t:3: more than 1 different tiles or lines; --most-atoms raises the limit");
}

}  // namespace
}  // namespace sawtooth::sim
