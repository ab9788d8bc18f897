#include "cupti/inject/counter_lease.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace sawtooth::inject {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_tries{1};
constexpr off_t counters = 0, queue = 1;

struct flock lock_of(off_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// False where another process has the byte. On a file system without locks every process has it.
bool set(int file, off_t byte, short type) {
  struct flock lock = lock_of(byte, type);
  return fcntl(file, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool wait_for(int file, off_t byte, Clock::time_point end) {
  while (!set(file, byte, F_WRLCK)) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(between_tries);
  }
  return true;
}

}  // namespace

CounterLease::CounterLease(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}

bool CounterLease::take(double seconds) const {
  if (file_ < 0) return true;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  // Whoever gives the counters and wants them back stands behind those who wait.
  if (!wait_for(file_, queue, end)) return false;
  const bool taken = wait_for(file_, counters, end);
  set(file_, queue, F_UNLCK);
  return taken;
}

void CounterLease::give() const {
  if (file_ >= 0) set(file_, counters, F_UNLCK);
}

bool CounterLease::wanted() const {
  if (file_ < 0) return false;
  struct flock lock = lock_of(queue, F_WRLCK);
  return fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace sawtooth::inject
