// Files that are written, and what a terminal is told meanwhile.
#include "experiments/sawtooth/support/files.hpp"

#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "experiments/sawtooth/support/provenance.hpp"
#include "experiments/sawtooth/support/terminal.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

void write_whole(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

TEST(OutputFile, AppearsWhenItIsCommitted) {
  const TemporaryFolder folder;
  OutputFile file(folder.path("a"));
  file.write("new");
  EXPECT_FALSE(fs::exists(folder.path("a")));
  file.commit();
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(OutputFolder, IsMadeWithThoseAboveItOrRefused) {
  const TemporaryFolder folder;
  for (const char* text : {"new", "newer"})
    OutputFolder(folder.path("a/b"), {"c"}).write("c", text);
  EXPECT_EQ(folder.read("a/b/c"), "newer");
  folder.write("file", "");
  EXPECT_THROW(OutputFolder(folder.path("file"), {}), UsageError);
  EXPECT_THROW(OutputFolder(folder.path("file/b"), {}), UsageError);
}

TEST(OutputFile, AFileBehindLinksIsReplacedAndTheLinksStay) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path("data"));
  folder.write("data/a", "old");
  fs::create_symlink("data/a", folder.path("inner"));
  fs::create_symlink(folder.path("inner"), folder.path("outer"));
  write_whole(folder.path("outer"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.path("outer")));
  EXPECT_TRUE(fs::is_symlink(folder.path("inner")));
  EXPECT_EQ(folder.read("data/a"), "new");
}

TEST(OutputFile, ALinkToNothingYetGetsItsFile) {
  const TemporaryFolder folder;
  fs::create_symlink("a", folder.path("link"));
  write_whole(folder.path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("a"), "new");
}

TEST(OutputFile, APipeIsWrittenToAndStaysAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const int reader = open(folder.path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_whole(folder.path("pipe"), "new");
  char bytes[8] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 3);
  close(reader);
  EXPECT_STREQ(bytes, "new");
  EXPECT_TRUE(fs::is_fifo(folder.path("pipe")));
}

TEST(OutputFile, FoldersAndLinksWithoutEndAreRefused) {
  const TemporaryFolder folder;
  fs::create_symlink("loop", folder.path("loop"));
  EXPECT_THROW(OutputFile{folder.path("")}, UsageError);
  EXPECT_THROW(OutputFile{folder.path("loop")}, UsageError);
  EXPECT_EQ(folder.files(), 1u);
}

// A quarter of the work took 10 s, so three quarters take 30 s.
TEST(Progress, TheTimeLeftFollowsFromTheShareOfTheWork) {
  const std::string line = progress_line(1, 8, 0.25, 10);
  EXPECT_NE(line.find("1 of 8  25 %  0:30 left"), std::string::npos) << line;
}

TEST(Progress, NoTimeIsPromisedBeforeAnythingIsDone) {
  EXPECT_EQ(progress_line(0, 8, 0, 10).find("left"), std::string::npos);
}

const std::vector<std::string_view> names{"linear", "sawtooth", "sawtooth-item", "attach"};

TEST(Names, AreFoundInAnyCase) {
  EXPECT_EQ(found_name("Sawtooth-ITEM", names), "sawtooth-item");
  EXPECT_EQ(found_name("sawtoothitem", names), "");
}

TEST(Names, TheNearestOneIsOfferedWhereAThirdOfItsLettersChangeAtMost) {
  EXPECT_EQ(did_you_mean("swatooth", names), "; did you mean sawtooth?");  // neighbours exchanged
  EXPECT_EQ(did_you_mean("LINAR", names), "; did you mean linear?");       // a letter is missing
  EXPECT_EQ(did_you_mean("atach!", names), "; did you mean attach?");      // 2 of 6 letters
  EXPECT_EQ(did_you_mean("batch!", names), "");                            // 3 of 6 letters
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean("tile", std::vector<std::string_view>{"tiles", "tile-q", "tile-kv"}),
            "; did you mean tile-q or tile-kv?");
}

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
