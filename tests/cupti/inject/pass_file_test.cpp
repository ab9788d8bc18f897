#include "cupti/inject/pass_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::inject {
namespace {

TEST(PassFile, ARequestReadsBackAsItWasWritten) {
  const PassRequest request{"flash.*<int>\t\\d", "the\nrange", 3, 10, true, {"a.sum", "b.avg"}};
  EXPECT_EQ(parse_request(request_text(request)), request);
  EXPECT_EQ(parse_request(request_text({})), PassRequest{});
}

LaunchRecord some_launch() {
  LaunchRecord launch;
  launch.index = 41;
  launch.name = "void k<(a)1>(float*, \"x\")\twith a tab\\n";
  launch.grid = extent_text({8, 4, 1});
  launch.block = "128x1x1";
  launch.shared_bytes = 49152;
  launch.registers = 255;
  launch.stream = 2;
  launch.time_us = 12.625;
  launch.status = "counters-busy";
  launch.message = "first\nsecond";
  launch.values = {{"dram__sectors_read.sum", 9007199254740991.0}, {"odd=name.pct", 0.1}};
  return launch;
}

TEST(PassFile, ALaunchReadsBackAsItWasWritten) {
  const std::string text =
      process_line("python a.py --x=1") + launch_line(some_launch()) + note_line("a\tnote");
  const ProcessRecord process = parse_process(text);
  EXPECT_EQ(process.command, "python a.py --x=1");
  ASSERT_EQ(process.launches.size(), 1u);
  EXPECT_EQ(process.launches.front(), some_launch());
  EXPECT_EQ(process.launches.front().grid, "8x4x1");
  EXPECT_EQ(process.notes, std::vector<std::string>{"a\tnote"});
}

TEST(PassFile, ALineThatAKilledProcessDidNotEndIsLeftOut) {
  const std::string line = launch_line(some_launch());
  for (size_t kept = 0; kept < line.size(); ++kept) {
    const ProcessRecord process = parse_process(process_line("p") + line + line.substr(0, kept));
    EXPECT_EQ(process.launches.size(), 1u) << kept;
  }
}

TEST(PassFile, LinesOfAnotherShapeAreRefused) {
  EXPECT_THROW(parse_process("sawtooth-record 2\n"), std::runtime_error);
  EXPECT_THROW(parse_process(process_line("p") + "launch\t1\n"), std::runtime_error);
  EXPECT_THROW(parse_process(process_line("p") + "lunch\tx\n"), std::runtime_error);
  EXPECT_THROW(parse_request("sawtooth-record 1\nskip\tfew\n"), std::runtime_error);
}

TEST(PassFile, ProcessesAreReadInTheirOrderAndAnEmptyFileIsAProcessWithoutLaunches) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path("process-0")) << process_line("first") << launch_line(some_launch());
  std::ofstream(folder.path("process-1"));
  std::ofstream(folder.path("process-2")) << process_line("third");
  const std::vector<ProcessRecord> processes = read_processes(folder.path(""));
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].launches.size(), 1u);
  EXPECT_EQ(processes[1].launches.size(), 0u);
  EXPECT_EQ(processes[2].command, "third");
}

}  // namespace
}  // namespace sawtooth::inject
