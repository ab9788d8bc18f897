#include "experiments/sawtooth/support/ini.hpp"

#include <gtest/gtest.h>

#include "experiments/sawtooth/support/usage_error.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;

TEST(Ini, KeysKeepTheirLineAndSection) {
  const IniFile file =
      parse_ini("# a comment\na = 1 # more\n\n[mask=causal head-dim=128]\nb.c = x y\n", "f.ini");
  ASSERT_EQ(file.sections.size(), 2u);
  ASSERT_EQ(file.sections[0].entries.size(), 1u);
  EXPECT_EQ(file.sections[0].entries[0].key, "a");
  EXPECT_EQ(file.sections[0].entries[0].value, "1");
  EXPECT_EQ(file.sections[0].entries[0].line, 2);
  EXPECT_EQ(file.sections[1].name, "mask=causal head-dim=128");
  EXPECT_EQ(file.sections[1].line, 4);
  EXPECT_EQ(file.sections[1].entries[0].key, "b.c");
  EXPECT_EQ(file.sections[1].entries[0].value, "x y");
}

TEST(Ini, RepeatedKeysAllStay) {
  EXPECT_EQ(parse_ini("a = 1\na = 2\n", "f.ini").sections[0].entries.size(), 2u);
}

TEST(Ini, ErrorsNameFileAndLine) {
  const auto message = [](const char* text) {
    return message_of<UsageError>([&] { parse_ini(text, "f.ini"); });
  };
  EXPECT_EQ(message("a = 1\nnonsense\n"),
            "f.ini:2: 'nonsense' is neither 'key = value' nor '[section]' nor a # comment");
  EXPECT_EQ(message("[open\n"), "f.ini:1: '[open': a section ends with ']'");
  EXPECT_EQ(message("\n[]\n"), "f.ini:2: a section needs a name");
  EXPECT_EQ(message("= 3\n").substr(0, 8), "f.ini:1:");
}

TEST(Ini, AByteOrderMarkIsNoPartOfTheFirstKey) {
  const test::TemporaryFolder folder;
  const IniFile file = read_ini(folder.write("a.ini", "\xEF\xBB\xBFgpu = h200\n"));
  EXPECT_EQ(file.sections.front().entries.front().key, "gpu");
}

TEST(Ini, AMissingFileAndAFolderAreNamed) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(message_of<UsageError>([&] { read_ini(folder.path("none.ini")); }),
            folder.path("none.ini") + ": cannot be read");
  EXPECT_EQ(message_of<UsageError>([&] { read_ini(folder.path("")); }),
            folder.path("") + ": is a folder; a file is needed");
}

}  // namespace
}  // namespace sawtooth::experiments
