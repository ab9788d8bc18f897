#include "experiments/sawtooth/support/provenance.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sawtooth::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Test vectors of FNV-1a, 64 bits, by its authors: "" and "foobar".
TEST(Provenance, AUuidIsHashedByFnv1a) {
  EXPECT_EQ(hashed_uuid(""), "cbf29ce484222325");
  EXPECT_EQ(hashed_uuid("foobar"), "85944171f73967e8");
}

TEST(Provenance, NamesToolCommitCompilerAndCommandLine) {
  const std::vector<std::string> arguments{"calibrate", "--output", "x"};
  const Provenance provenance = program_provenance(arguments);
  EXPECT_EQ(provenance.value("arguments"), "calibrate --output x");
  for (const char* key :
       {"tool-version", "git-commit", "git-dirty", "compiler", "flags", "cupti"}) {
    EXPECT_FALSE(provenance.value(key).empty()) << key;
  }
  EXPECT_NE(provenance.value("compiler"), "unknown");
  EXPECT_EQ(provenance.value("no such key"), "unknown");
  EXPECT_THAT(utc_now(), MatchesRegex("....-..-..T..:..:..Z"));
}

TEST(Provenance, IsWrittenAsOneSectionOfAnIniFile) {
  Provenance provenance;
  provenance.add("a", "1");
  provenance.add("b", "two words");
  std::ostringstream out;
  write_provenance(out, "run", provenance);
  EXPECT_EQ(out.str(), "[run]\na = 1\nb = two words\n\n");
}

}  // namespace
}  // namespace sawtooth::experiments
