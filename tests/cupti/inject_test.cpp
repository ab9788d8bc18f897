// What the injected library shares with `sawtooth record`: which launches it takes, the file of its
// passes, and the counters of a GPU between processes (children made by fork inherit no lock).
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cupti/inject/device_kernels.hpp"
#include "cupti/inject/pass_file.hpp"
#include "tests/experiments/sawtooth/support/temporary_folder.hpp"

namespace sawtooth::inject {
namespace {

constexpr double at_once = 0.01, long_enough = 20;  // seconds

class Lease : public testing::Test {
 protected:
  Lease() : path_(testing::TempDir() + "/lease-" + std::to_string(getpid())) {}
  ~Lease() override { unlink(path_.c_str()); }

  /// Runs `body` in a child; its result is awaited by `ended`.
  pid_t child(const std::function<bool(const CounterLease&)>& body) const {
    const pid_t process = fork();
    if (process == 0) _exit(body(CounterLease(path_)) ? 0 : 1);
    return process;
  }
  static bool ended(pid_t process) {
    int status = 0;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  static void until(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::string path_;
};

TEST_F(Lease, OneProcessHasItAndThatOneAsOftenAsItAsks) {
  const CounterLease mine(path_);
  EXPECT_TRUE(mine.take(at_once));
  EXPECT_TRUE(mine.take(at_once));
  EXPECT_TRUE(ended(child([](const CounterLease& lease) { return !lease.take(at_once); })));
  mine.give();
  EXPECT_TRUE(ended(child([](const CounterLease& lease) { return lease.take(at_once); })));
}

TEST_F(Lease, ThePlaceOfAProcessThatEndedIsFree) {
  EXPECT_TRUE(ended(child([](const CounterLease& lease) { return lease.take(at_once); })));
  EXPECT_TRUE(CounterLease(path_).take(at_once));
}

TEST_F(Lease, WhoWaitsIsSeenAndComesBeforeWhoGaveIt) {
  const CounterLease mine(path_);
  ASSERT_TRUE(mine.take(at_once));
  EXPECT_FALSE(mine.wanted());
  const pid_t waiting = child([](const CounterLease& lease) {
    if (!lease.take(long_enough)) return false;
    until([&] { return lease.wanted(); });  // by the parent, which gave it meanwhile
    lease.give();
    return true;
  });
  until([&] { return mine.wanted(); });
  mine.give();
  EXPECT_TRUE(mine.take(long_enough));
  EXPECT_TRUE(ended(waiting));
}

TEST_F(Lease, WithoutAFileEveryProcessHasThem) {
  const CounterLease lease("/no_such_folder/lease");
  EXPECT_TRUE(lease.take(at_once));
  EXPECT_FALSE(lease.wanted());
}

TEST(DeviceKernels, TheAssemblerTakesThemForTheOldestAndTheNewestArchitecture) {
  if (std::system("ptxas --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no ptxas on PATH";
  const auto folder = std::filesystem::path(testing::TempDir());
  const auto source = folder / "device_kernels.ptx", binary = folder / "device_kernels.cubin";
  std::ofstream(source) << device_kernels();
  for (const std::string architecture : {"sm_75", "sm_90", "sm_121"}) {
    const std::string command =
        "ptxas -arch " + architecture + " '" + source.string() + "' -o '" + binary.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(binary, std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    // The names that ContextRecorder asks for; .text.NAME is the section of a kernel's code.
    for (const std::string name : {"sawtooth_write", "sawtooth_read", "sawtooth_wait"})
      EXPECT_NE(code.find(".text." + name), std::string::npos) << architecture << ' ' << name;
    std::filesystem::remove(binary);
  }
  std::filesystem::remove(source);
}

std::vector<int64_t> taken(LaunchFilter& filter, const std::vector<std::string>& symbols) {
  std::vector<int64_t> indices;
  for (const std::string& symbol : symbols) {
    const int64_t index = filter.launches();
    if (filter.takes(symbol, false)) indices.push_back(index);
  }
  return indices;
}

TEST(LaunchFilter, WithoutConditionsEveryLaunchIsTaken) {
  LaunchFilter filter({});
  EXPECT_EQ(taken(filter, {"a", "b", ""}), (std::vector<int64_t>{0, 1, 2}));
}

TEST(LaunchFilter, TheExpressionIsSearchedInTheDemangledName) {
  LaunchFilter filter({.kernel = "^void flash::fwd<[0-9]+"});
  // void flash::fwd<64>(float*), and the same without its namespace
  EXPECT_EQ(taken(filter, {"_ZN5flash3fwdILi64EEEvPf", "_Z3fwdILi64EEvPf", "flash::fwd<64>",
                           "_ZN5flash3fwdILi64EEEvPf"}),
            (std::vector<int64_t>{0, 3}));
}

TEST(LaunchFilter, SkipAndCountGoByMatchingLaunches) {
  LaunchFilter filter({.kernel = "attention", .skip = 1, .count = 2});
  EXPECT_EQ(taken(filter, {"attention", "gemm", "attention", "gemm", "attention", "attention"}),
            (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(filter.launches(), 6);
}

TEST(LaunchFilter, AnNvtxRangeThatIsAskedForMustBeOpen) {
  LaunchFilter filter({.kernel = "k", .nvtx = "step", .count = 1});
  EXPECT_FALSE(filter.takes("k", false));
  EXPECT_FALSE(filter.takes("other", true));
  EXPECT_TRUE(filter.takes("k", true));
  EXPECT_FALSE(filter.takes("k", true));  // one was asked for
}

TEST(LaunchFilter, ABrokenExpressionIsRefusedWithItsReason) {
  try {
    const LaunchFilter filter({.kernel = "a(b"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'a(b' is no regular expression: "),
              std::string::npos);
  }
}

TEST(LaunchFilter, NamesThatAreNotMangledStayAsTheyAre) {
  EXPECT_EQ(demangled("_attn_fwd"), "_attn_fwd");
  EXPECT_EQ(demangled("_Z1kPf"), "k(float*)");
}

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
