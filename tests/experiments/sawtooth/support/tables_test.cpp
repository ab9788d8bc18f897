// CSV and INI files.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "experiments/sawtooth/support/csv.hpp"
#include "experiments/sawtooth/support/ini.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::experiments {
namespace {

using test::message_of;

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  const CsvTable table = parse_csv("a,b\r\n\"1,\"\"x\"\"\",\"two\nlines\"\r\n3,\n", "f.csv");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0], (CsvRow{"1,\"x\"", "two\nlines"}));
  EXPECT_EQ(table.rows[1], (CsvRow{"3", ""}));
  EXPECT_EQ(table.line_of_row, (std::vector<int>{2, 4}));
}

TEST(Csv, TheLastLineBreakIsOptional) {
  EXPECT_EQ(parse_csv("a\n1", "f.csv").rows, (std::vector<CsvRow>{{"1"}}));
}

TEST(Csv, ACellThatBeginsWithAByteOrderMarkIsWrittenSoThatItComesBack) {
  const CsvRow header{"\xEF\xBB\xBFx"};
  EXPECT_EQ(parse_csv(csv_line(header), "f.csv").header, header);
  EXPECT_EQ(parse_csv("\xEF\xBB\xBF" + csv_line({"x"}), "f.csv").header, CsvRow{"x"});
}

TEST(Csv, ErrorsNameFileLineAndColumn) {
  const auto message = [](const char* text) {
    return message_of<UsageError>([&] { parse_csv(text, "f.csv"); });
  };
  EXPECT_EQ(message(""), "f.csv:1:1: the file is empty; a header is needed");
  EXPECT_EQ(message("\xEF\xBB\xBF"), "f.csv:1:1: the file is empty; a header is needed");
  EXPECT_EQ(message("a,b\n1\n"), "f.csv:2:1: 1 cells; the header has 2");
  EXPECT_EQ(message("a,b\n1,2,3\n"), "f.csv:2:1: 3 cells; the header has 2");
  EXPECT_EQ(message("a,b\n1,\"2\n"), "f.csv:2:3: a quote that is never closed");
  EXPECT_EQ(message("a,b\n1,2\"3\n"),
            "f.csv:2:4: a quote inside a field that does not begin with one");
  EXPECT_EQ(message("a\n\"1\"2\n"),
            "f.csv:2:4: a closing quote must be followed by ',' or the end of the line");
  EXPECT_EQ(message("a,a\n"), "f.csv:1:1: column 'a' is there twice");
  EXPECT_EQ(message("a,\n"), "f.csv:1:1: column 2 has no name");
}

// Any cells come back as they were; a row of one empty cell is an empty line and is left out here.
RC_GTEST_PROP(Csv, WhatIsWrittenIsReadBack, (const std::vector<std::string>& cells)) {
  RC_PRE(cells.size() >= 2u);
  CsvRow header;
  for (size_t i = 0; i < cells.size(); ++i) header.push_back(std::to_string(i).append("c"));
  const CsvTable table = parse_csv(csv_line(header) + csv_line(cells), "f.csv");
  RC_ASSERT(table.rows == std::vector<CsvRow>{cells});
}

RC_GTEST_PROP(Csv, AnyTextIsATableOrAUsageError, (const std::string& text)) {
  try {
    const CsvTable table = parse_csv(text, "f.csv");
    for (const CsvRow& row : table.rows) RC_ASSERT(row.size() == table.header.size());
  } catch (const UsageError& error) {
    RC_ASSERT(std::string(error.what()).starts_with("f.csv:"));
  }
}

// Longer than a piece that is read at once.
TEST(CsvFile, KnowsWhereEachRecordStands) {
  const test::TemporaryFolder folder;
  std::string text = "\xEF\xBB\xBF\"a\",b\r\n\n";
  for (int i = 0; i < 200000; ++i) text += std::to_string(i) + ",\"x\ny\"\r\n";
  CsvFile file(folder.write("t.csv", text));
  EXPECT_EQ(file.header(), (CsvRow{"a", "b"}));
  int row = 0;
  for (; file.next(); ++row) {
    ASSERT_EQ(file.cells(), (CsvRow{std::to_string(row), "x\ny"}));
    ASSERT_EQ(file.line(), 3 + 2 * row);
    const CsvPlace at = file.place(0);
    ASSERT_EQ(text.substr(at.offset, at.length), std::to_string(row) + ",\"x\ny\"");
    ASSERT_EQ(file.record(), text.substr(at.offset, at.length));
  }
  EXPECT_EQ(row, 200000);
}

TEST(CsvFile, LeavesALastLineThatWasNotWrittenToItsEnd) {
  const test::TemporaryFolder folder;
  CsvFile file(folder.write("t.csv", "a,b\n1,2\n3,"), true);
  EXPECT_TRUE(file.next());
  EXPECT_FALSE(file.next());
  EXPECT_TRUE(CsvFile(folder.write("t.csv", "a,b"), true).header().empty());
  EXPECT_TRUE(CsvFile(folder.write("t.csv", ""), true).header().empty());
}

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
