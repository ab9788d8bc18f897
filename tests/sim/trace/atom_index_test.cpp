// Atoms are found by their first lines, however these lie.
#include "sim/trace/atom_index.hpp"

#include <gtest/gtest.h>

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
  for (AtomId before = 0; before < count; ++before) {
    for (const uint64_t line : {uint64_t{before} + 1, uint64_t{before}, count - 1 - before, count})
      ASSERT_EQ(index.find_after(before, line * stride), index.find(line * stride));
  }
}

INSTANTIATE_TEST_SUITE_P(Strides, AtomIndexOfStride, testing::Values(1, 16, 128, 2048, 12345));

}  // namespace
}  // namespace sawtooth::sim
