#include "experiments/sawtooth/inputs/sequence_lengths.hpp"

#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "experiments/sawtooth/inputs/option_values.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using Lengths = std::vector<int64_t>;

TEST(SequenceLengths, OfAListHaveOneSpelling) {
  EXPECT_EQ(canonical_lengths("4K+1024+1k+1"), "4096+2x1024+1");
  EXPECT_EQ(canonical_lengths(" 2x7 + 7 "), "3x7");
  EXPECT_EQ(canonical_lengths("0"), "0");
  EXPECT_EQ(canonical_lengths("uniform:1K..64K:5"), "uniform:1024..65536:5");
}

TEST(SequenceLengths, OfAListAreAsManyAsItSays) {
  EXPECT_EQ(lengths_of("2x7+1", 9), (Lengths{7, 7, 1}));
  EXPECT_EQ(listed_sequences("2x7+1"), 3);
  EXPECT_EQ(listed_sequences("uniform:1..2:3"), std::nullopt);
}

TEST(SequenceLengths, OfAFileStandForTheListInIt) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path("lengths.txt")) << "# K/V lengths\n4K\n\n3x100  # decode\n 100\n";
  EXPECT_EQ(canonical_lengths("file:" + folder.path("lengths.txt")), "4096+4x100");
}

// mix_seed(0, 0) and mix_seed(0, 1) are the first two outputs of SplitMix64 from seed 0, published
// as 0xe220a8397b1dcdaf and 0x6e789e6aa1b965f4 (Vigna, prng.di.unimi.it/splitmix64.c).
TEST(SequenceLengths, OfADistributionAreDrawnBySplitMix64) {
  const Lengths all = lengths_of("uniform:10..265:0", 2);
  EXPECT_EQ(all, (Lengths{10 + 0xaf, 10 + 0xf4}));
  EXPECT_EQ(lengths_of("uniform:5..5:3", 4), (Lengths{5, 5, 5, 5}));
  for (const int64_t length : lengths_of("uniform:3..9:1", 1000)) {
    EXPECT_GE(length, 3);
    EXPECT_LE(length, 9);
  }
}

TEST(SequenceLengths, ThatAreNoneAreRefusedWithWhatIsAllowed) {
  for (const char* text :
       {"", "+", "4K+", "x4", "0x4", "4x", "-1", "4.5", "a", "uniform:1..2", "uniform:2..1:0",
        "uniform:1:2", "uniform:1..2:x", "2000000x1", "2T", "9999999999999"}) {
    EXPECT_THROW(canonical_lengths(text), std::invalid_argument) << text;
  }
  EXPECT_THROW(canonical_lengths("file:/no/file"), UsageError);
  EXPECT_EQ(test::message_of<std::invalid_argument>(
                [] { canonical_value(*find_option("lengths"), "4K+"); }),
            "'4K+' is not allowed; allowed: " + std::string(allowed_lengths));
}

}  // namespace
}  // namespace sawtooth::experiments
