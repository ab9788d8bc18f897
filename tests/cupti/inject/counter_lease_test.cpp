// The counters of a GPU between processes: this one and children made by fork, which inherit no
// lock.
#include "cupti/inject/counter_lease.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace
}  // namespace sawtooth::inject
