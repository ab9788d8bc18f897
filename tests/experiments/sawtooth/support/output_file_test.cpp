#include "experiments/sawtooth/support/output_file.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

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
  EXPECT_TRUE(fs::is_directory(output_folder(folder.path("a/b"))));
  EXPECT_EQ(output_folder(folder.path("a/b")), folder.path("a/b"));
  folder.write("file", "");
  EXPECT_THROW(output_folder(folder.path("file")), UsageError);
  EXPECT_THROW(output_folder(folder.path("file/b")), UsageError);
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

// As /dev/stdout does: a link to a link in /proc, here with a regular file behind it.
TEST(OutputFile, AnOpenFileBehindALinkOfProcIsAppendedTo) {
  const TemporaryFolder folder;
  const int open_file = open(folder.write("a", "old ").c_str(), O_WRONLY);
  ASSERT_GE(open_file, 0);
  fs::create_symlink("/proc/self/fd/" + std::to_string(open_file), folder.path("link"));
  write_whole(folder.path("link"), "new");
  struct stat opened = {};
  ASSERT_EQ(fstat(open_file, &opened), 0);
  close(open_file);
  EXPECT_EQ(opened.st_nlink, 1u);
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("a"), "old new");
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

}  // namespace
}  // namespace sawtooth::experiments
