// What people see and type: short tables, help, names in any case, completions, man pages.
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/cli/program.hpp"

namespace sawtooth::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* point = "simulate --gpu gb10 --seq 4K --scan linear,sawtooth ";

/// The output has both streams, on a terminal that script(1) of util-linux makes.
std::string on_terminal(const std::string& arguments, const std::string& before = "") {
  return output_of(before + "script -qec '" + SAWTOOTH_PROGRAM + " " + arguments +
                   "' /dev/null </dev/null 2>&1")
      .first;
}

bool has_program(const std::string& name) {
  return !output_of("command -v " + name).first.empty();
}

size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Terminal, ShowsAShortTableWhereThePipeHasCsv) {
  if (!has_program("script")) GTEST_SKIP() << "no script(1) here";
  const std::string shown = on_terminal(point, "NO_COLOR=1 ");
  EXPECT_THAT(shown, HasSubstr("\nscan      DRAM reads / compulsory  model           judged"));
  EXPECT_THAT(shown, HasSubstr("2 points; --csv FILE keeps all columns"));
  EXPECT_THAT(shown, Not(HasSubstr("experiment,source")));
  EXPECT_THAT(on_terminal(std::string(point) + "--csv -"), HasSubstr("experiment,source"));
  EXPECT_THAT(run_program(point).out, StartsWith("experiment,source"));
}

TEST(Terminal, SaysWhatWasWritten) {
  if (!has_program("script")) GTEST_SKIP() << "no script(1) here";
  const TemporaryFolder folder;
  const std::string files = "--csv " + folder.path("r.csv") + " --by-tensor " + folder.path("t");
  EXPECT_THAT(on_terminal(point + files),
              HasSubstr("2 points; written: " + folder.path("r.csv") + ", " + folder.path("t")));
  EXPECT_THAT(run_program(point + files).err, Not(HasSubstr("written")));
}

TEST(Terminal, HasColoursOnlyWithoutNoColor) {
  if (!has_program("script")) GTEST_SKIP() << "no script(1) here";
  EXPECT_THAT(on_terminal(point), HasSubstr("\033["));
  EXPECT_THAT(on_terminal("nonsense"), HasSubstr("\033["));
  EXPECT_THAT(on_terminal("nonsense", "NO_COLOR=1 "), StartsWith("sawtooth: 'nonsense'"));
  EXPECT_THAT(run_program("nonsense").err, StartsWith("sawtooth: 'nonsense'"));
}

TEST(Help, FitsTheWidthThatItIsGiven) {
  for (const size_t width : {60, 80, 100}) {
    const std::string before = "COLUMNS=" + std::to_string(width) + " ";
    for (const char* command : {"", "simulate ", "calibrate ", "compare ", "record "}) {
      EXPECT_LE(longest_line(run_program(std::string(command) + "--help", before).out), width)
          << command;
    }
  }
}

TEST(Help, HasGroupsAndIsWhatAProgramWithoutACommandLacks) {
  EXPECT_THAT(run_program("simulate --help").out, HasSubstr("\nSchedule ("));
  EXPECT_EQ(run_program("").exit_code, 2);
}

TEST(Names, AreTakenInAnyCase) {
  const Outcome lower = run_program(
      "simulate --gpu gb10 --system flash-attention-2 --seq 4K --mask window:1K --dtype bf16");
  const Outcome upper = run_program(
      "simulate --gpu GB10 --system Flash-Attention-2 --seq 4k --mask Window:1k --dtype BF16");
  ASSERT_EQ(lower.exit_code, 0) << lower.err;
  EXPECT_EQ(upper.out, lower.out) << upper.err;
}

TEST(Names, TheNearestIsOffered) {
  EXPECT_THAT(run_program("simulat").err, HasSubstr("; did you mean simulate?"));
  EXPECT_THAT(run_program("simulate --sqe 64").err, HasSubstr("; did you mean seq?"));
  EXPECT_THAT(run_program("simulate --gpu gb10 --seq 64 --scan sawtoth").err,
              HasSubstr("; did you mean sawtooth?"));
  EXPECT_THAT(run_program("simulate --gpu h20 --seq 64").err, HasSubstr("; did you mean h200?"));
  EXPECT_THAT(run_program("systems flash-atention-3").err,
              HasSubstr("; did you mean flash-attention-3?"));
  EXPECT_THAT(run_program("schedules attatch").err, HasSubstr("; did you mean attach?"));
}

TEST(Lists, SayAllOfAName) {
  EXPECT_THAT(run_program("gpus H200").out, HasSubstr("l2-halves"));
  EXPECT_THAT(run_program("gpus H200").out, HasSubstr("the default first:\n  timed-halves "));
  EXPECT_THAT(run_program("gpus H200").out,
              HasSubstr("floor and factor of several:\n  l2_read_sectors "));
  EXPECT_THAT(run_program("systems flash-attention-2").out, HasSubstr("\nlaunch = grid\n"));
  EXPECT_THAT(run_program("schedules attach").out, HasSubstr("--scan attach"));
  EXPECT_EQ(run_program("gpus nothing").exit_code, 2);
  EXPECT_EQ(run_program("schedules nothing").exit_code, 2);
}

TEST(Lists, AreWrappedForPeopleAndALineEachInAPipe) {
  const std::string piped = run_program("systems").out;
  EXPECT_GT(longest_line(piped), 101u);
  EXPECT_THAT(piped, Not(HasSubstr("\n   ")));
  if (!has_program("script")) GTEST_SKIP() << "no script(1) here";
  for (const char* command : {"systems", "schedules", "gpus h200"})
    EXPECT_LE(longest_line(on_terminal(command)), 101u) << command;  // with a carriage return
}

TEST(Version, NamesTheCommit) {
  const std::regex form(R"(sawtooth [0-9.]+ \(commit ([0-9a-f]{12}|unknown)(, with changes)?\)\n)");
  const std::string text = run_program("--version").out;
  EXPECT_TRUE(std::regex_match(text, form)) << text;
}

// The options that `simulate --help` has, as "--key".
std::vector<std::string> options_of_simulate() {
  const std::string help = run_program("simulate --help").out;
  std::vector<std::string> keys;
  const std::regex option("\n  (--[a-z0-9-]+)");
  for (std::sregex_iterator i(help.begin(), help.end(), option), end; i != end; ++i) {
    keys.push_back((*i)[1]);
  }
  return keys;
}

TEST(Completion, KnowsEveryOptionInEveryShell) {
  const auto keys = options_of_simulate();
  ASSERT_GT(keys.size(), 40u);
  const std::string bash = run_program("--completion bash").out;
  const std::string zsh = run_program("--completion zsh").out;
  const std::string fish = run_program("--completion fish").out;
  for (const std::string& key : keys) {
    EXPECT_THAT(bash, HasSubstr(key + " "));
    EXPECT_THAT(zsh, HasSubstr("'*" + key + "["));
    EXPECT_THAT(fish, HasSubstr(" -l " + key.substr(2) + " "));
  }
  EXPECT_EQ(run_program("--completion tcsh").exit_code, 2);
}

TEST(Completion, OtherShellsReadTheirs) {
  for (const auto& [shell, check] :
       {std::pair("zsh", "zsh -n /dev/stdin"), std::pair("fish", "fish --no-execute /dev/stdin")}) {
    if (!has_program(shell)) continue;
    EXPECT_EQ(output_of("'" SAWTOOTH_PROGRAM "' --completion " + std::string(shell) + " | " +
                        check + " 2>&1"),
              std::pair(std::string(), 0));
  }
}

TEST(ManPage, HasEveryOption) {
  const std::string page = run_program("--man simulate").out;
  EXPECT_THAT(page, StartsWith(".TH sawtooth-simulate 1 "));
  for (std::string key : options_of_simulate()) {
    for (size_t at = 0; (at = key.find('-', at)) != std::string::npos; at += 2)
      key.insert(at, 1, '\\');
    EXPECT_THAT(page, HasSubstr("\\fB" + key + "\\fR"));
  }
  EXPECT_THAT(run_program("--man").out, HasSubstr("sawtooth\\-simulate(1)"));
  EXPECT_EQ(run_program("--man nothing").exit_code, 2);
}

TEST(Counters, ChipsAreNamedByTheirGpusToo) {
  const Outcome chip = run_program("counters list --chip GH100 --match lts__t_sectors_op_read");
  if (chip.exit_code != 0) GTEST_SKIP() << chip.err;  // no CUPTI here
  for (const char* name : {"gh100", "h200", "H200", "h100-sxm"}) {
    EXPECT_EQ(
        run_program("counters list --match lts__t_sectors_op_read --chip " + std::string(name)).out,
        chip.out);
  }
  const Outcome wrong = run_program("counters list --chip gh10");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("allowed: GA100, GA102"));
  EXPECT_THAT(wrong.err, HasSubstr("did you mean GH100?"));
}

}  // namespace
}  // namespace sawtooth::test
