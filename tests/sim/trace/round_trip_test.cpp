// What is written is read back, in every format, whole or as lines.
#include <limits>

#include <gtest/gtest.h>

#include "sim/trace/readers.hpp"
#include "tests/support/property.hpp"
#include "tests/support/traces.hpp"

namespace sawtooth::sim {
namespace {

constexpr uint64_t count = 5000;  // makes the table grow several times

class AtomIndexOfStride : public testing::TestWithParam<uint64_t> {};

// With a stride of 2048 all atoms have one place within a group of the table.
TEST_P(AtomIndexOfStride, FindsEveryAtomAndNoOther) {
  const uint64_t stride = GetParam();
  TraceAtoms atoms;
  AtomIndex index(atoms);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(index.find(i * stride), AtomIndex::none);
    atoms.push_back({.first_line = i * stride});
    index.add_last();
  }
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(index.find(i * stride), i);
    ASSERT_EQ(index.find((count + i) * stride), AtomIndex::none);
  }
}

TEST_P(AtomIndexOfStride, FindsTheSameAfterAnyOtherAtom) {
  const uint64_t stride = GetParam();
  TraceAtoms atoms;
  AtomIndex index(atoms);
  for (uint64_t i = 0; i < count; ++i) {
    atoms.push_back({.first_line = i * stride});
    index.add_last();
  }
  for (AtomId before = 0; before < count; ++before)
    for (const uint64_t line : {uint64_t{before} + 1, uint64_t{before}, count - 1 - before, count})
      ASSERT_EQ(index.find_after(before, line * stride), index.find(line * stride));
}

INSTANTIATE_TEST_SUITE_P(Strides, AtomIndexOfStride, testing::Values(1, 16, 128, 2048, 12345));

using tests::read_trace;
using tests::text_of;
using tests::Trace;

RC_GTEST_PROP(Varint, NumbersComeBackInTheBytesThatTheyNeed, (uint64_t value)) {
  std::string bytes;
  append_varint(bytes, value);
  size_t groups = 1;  // of seven bits
  for (uint64_t rest = value >> 7; rest > 0; rest >>= 7) ++groups;
  RC_ASSERT(bytes.size() == groups);
  std::span<const char> rest = bytes;
  uint64_t back = 0;
  RC_ASSERT(take_varint(rest, back));
  RC_ASSERT(back == value);
  RC_ASSERT(rest.empty());
  RC_ASSERT(folded(unfolded(value)) == value);
}

TEST(Varint, TheLargestNumberTakesTenBytesAndOneBitMoreIsRefused) {
  std::string bytes;
  append_varint(bytes, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(bytes, std::string(9, '\xff') + '\x01');
  uint64_t value = 0;
  for (const std::string& wrong : {std::string(9, '\xff') + '\x02', std::string(10, '\x80'),
                                   std::string(3, '\x80'), std::string()}) {
    std::span<const char> rest = wrong;
    EXPECT_FALSE(take_varint(rest, value));
  }
}

RC_GTEST_PROP(Trace, BothFormatsGiveBackEveryAtomAndVisit, ()) {
  const Trace trace = tests::any_trace();
  for (const TraceFormat format : {TraceFormat::binary, TraceFormat::csv}) {
    const Trace back = read_trace(text_of(format, trace));
    RC_ASSERT(back.atoms == trace.atoms);
    RC_ASSERT(back.visits == trace.visits);
  }
}

TEST(Trace, TheBinaryFormatKeepsItsDescription) {
  const std::string text = text_of(TraceFormat::binary, {}, "a = 1\nb = two\n");
  std::istringstream in(text);
  EXPECT_EQ(open_trace(in, "t", {})->description(), "a = 1\nb = two\n\n");
}

// More records than a block holds, and the largest numbers that a trace may have.
TEST(Trace, ManyBlocksAndLargeNumbersComeBack) {
  Trace trace;
  trace.atoms = {{(uint64_t{1} << 57) - 1, 1, 1, Tensor::other},
                 {0, uint32_t{1} << 24, uint32_t{1} << 26, Tensor::k}};
  for (uint32_t i = 0; i < 200'000; ++i)
    trace.visits.push_back({.atom = i % 7 == 0 ? 1u : 0u,
                            .access = Access::write,
                            .times = i % 3 + 1,
                            .worker = std::numeric_limits<uint32_t>::max() - i,
                            .step = uint64_t{i} << 40});
  const std::string text = text_of(TraceFormat::binary, trace);
  EXPECT_GT(text.size(), size_t{1} << 18);
  const Trace back = read_trace(text);
  EXPECT_EQ(back.atoms, trace.atoms);
  EXPECT_EQ(back.visits, trace.visits);
}

TEST(Trace, AVisitOfTwoWorkersBecomesItsLinesWorkerAfterWorker) {
  Trace trace;
  trace.atoms = {{10, 2, 7, Tensor::v}};
  trace.visits = {{.atom = 0, .backwards = true, .times = 2, .worker = 5, .step = 3}};
  // The last line has 7 - 4 sectors; backwards is 11, 10.
  EXPECT_EQ(text_of(TraceFormat::csv, trace, "", true),
            "step,worker,times,access,tensor,line,lines,sectors,direction\n"
            "3,5,1,read,v,11,1,3,forwards\n"
            "3,5,1,read,v,10,1,4,forwards\n"
            "3,6,1,read,v,11,1,3,forwards\n"
            "3,6,1,read,v,10,1,4,forwards\n");
}

TEST(Trace, DinHasALineOfTextForEveryLineThatIsTouched) {
  Trace trace;
  trace.atoms = {{2, 2, 8, Tensor::v}};
  trace.visits = {{.atom = 0, .times = 2}, {.atom = 0, .access = Access::write, .backwards = true}};
  // Lines 2 and 3 are the bytes from 0x100 and 0x180 on.
  EXPECT_EQ(text_of(TraceFormat::din, trace), "0 100\n0 180\n0 100\n0 180\n1 180\n1 100\n");
}

TEST(Trace, ACsvNeedsOnlyLinesAndTakesColumnsInAnyOrder) {
  const Trace least = read_trace("line\n7\n\n9\r\n7\n");
  EXPECT_EQ(least.atoms,
            (std::vector<TraceAtom>{{7, 1, 4, Tensor::other}, {9, 1, 4, Tensor::other}}));
  EXPECT_EQ(least.visits, (std::vector<TraceVisit>{{.atom = 0}, {.atom = 1}, {.atom = 0}}));
  const Trace more = read_trace("access,lines,line,step\nwrite,3,12,5\n,3,12,\n");
  EXPECT_EQ(more.atoms, (std::vector<TraceAtom>{{12, 3, 12, Tensor::other}}));
  EXPECT_EQ(more.visits, (std::vector<TraceVisit>{{.atom = 0, .access = Access::write, .step = 5},
                                                  {.atom = 0, .step = 5}}));
}

}  // namespace
}  // namespace sawtooth::sim
