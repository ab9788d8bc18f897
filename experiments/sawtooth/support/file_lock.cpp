#include "experiments/sawtooth/support/file_lock.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

// Not so when its last owner removed it between our open() and flock().
bool is_still_there(int file, const std::string& path) {
  struct stat ours = {};
  struct stat there = {};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& path) : lock_path_(path + ".lock") {
  for (;;) {
    file_ = open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) {
      throw UsageError(path + ": cannot be written; is its folder there and writable?");
    }
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;
      close(file_);
      throw UsageError(path + ": another process is writing it; wait for its end, or choose " +
                       "another file");
    }
    if (is_still_there(file_, lock_path_)) {
      removed_.emplace(lock_path_);
      return;
    }
    close(file_);
  }
}

FileLock::~FileLock() {
  unlink(lock_path_.c_str());
  close(file_);
}

}  // namespace sawtooth::experiments
