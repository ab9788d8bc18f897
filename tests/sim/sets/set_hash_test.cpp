#include "sim/sets/set_hash.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tests/support/generators.hpp"
#include "tests/support/property.hpp"

namespace sawtooth::sim {
namespace {

SetHash hash_of(HashKind kind, int64_t sets, std::vector<uint64_t> matrix = {}) {
  SetsParameters parameters;
  parameters.hash = kind;
  parameters.matrix = std::move(matrix);
  return SetHash(parameters, sets);
}

TEST(SetHash, ModuloTakesTheRest) {
  const SetHash hash = hash_of(HashKind::modulo, 96);
  EXPECT_EQ(hash.set_of(95), 95u);
  EXPECT_EQ(hash.set_of(96), 0u);
  EXPECT_EQ(hash.set_of(1000), 40u);  // 1000 = 10 x 96 + 40
}

TEST(SetHash, XorFoldsTheLineNumberToTheWidthOfASet) {
  const SetHash hash = hash_of(HashKind::exclusive_or, 16);
  EXPECT_EQ(hash.set_of(0xabc), uint32_t{0xa ^ 0xb ^ 0xc});
  EXPECT_EQ(hash.set_of(0xf0f), 0u);
}

TEST(SetHash, MatrixBitsAreParities) {
  // Bit 0 is the parity of line bits 0 and 4, bit 1 that of bits 1, 2 and 3.
  const SetHash hash = hash_of(HashKind::exclusive_or, 4, {0b10001, 0b01110});
  EXPECT_EQ(hash.set_of(0b00001), 1u);
  EXPECT_EQ(hash.set_of(0b10001), 0u);
  EXPECT_EQ(hash.set_of(0b00010), 2u);
  EXPECT_EQ(hash.set_of(0b01110), 2u);
  EXPECT_EQ(hash.set_of(0b00111), 1u);
}

TEST(SetHash, DependentRowsAreRefusedByNumber) {
  try {
    hash_of(HashKind::exclusive_or, 8, {0b011, 0b110, 0b101});
    FAIL() << "row 3 is the sum of rows 1 and 2";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("row 3"), std::string::npos) << error.what();
  }
  EXPECT_THROW(hash_of(HashKind::exclusive_or, 8, {1, 2}), std::invalid_argument);
  EXPECT_THROW(hash_of(HashKind::exclusive_or, 12), std::invalid_argument);
}

SetHash any_hash(int64_t& sets) {
  const auto kind = static_cast<HashKind>(tests::between(0, 2));
  sets =
      kind == HashKind::exclusive_or ? int64_t{1} << tests::between(0, 6) : tests::between(1, 200);
  return hash_of(kind, sets);
}

RC_GTEST_PROP(SetHash, EveryAlignedRunOfAsManyLinesAsSetsMeetsEachSetOnce, ()) {
  int64_t sets = 0;
  const SetHash hash = any_hash(sets);
  std::vector<uint32_t> images(static_cast<size_t>(sets));
  hash.images(static_cast<uint64_t>(sets * tests::between(0, 1'000'000)), images);
  std::sort(images.begin(), images.end());
  std::vector<uint32_t> all(images.size());
  std::iota(all.begin(), all.end(), 0u);
  RC_ASSERT(images == all);
}

RC_GTEST_PROP(SetHash, ImagesAreThoseOfSingleLines, ()) {
  int64_t sets = 0;
  const SetHash hash = any_hash(sets);
  const auto first = static_cast<uint64_t>(tests::between(0, 1'000'000));
  std::vector<uint32_t> images(static_cast<size_t>(tests::between(1, 100)));
  hash.images(first, images);
  for (size_t i = 0; i < images.size(); ++i) RC_ASSERT(images[i] == hash.set_of(first + i));
}

}  // namespace
}  // namespace sawtooth::sim
