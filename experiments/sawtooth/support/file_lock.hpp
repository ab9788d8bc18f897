// A lock that one process holds at a time and that ends with it.
#pragma once

#include <optional>
#include <string>

#include "experiments/sawtooth/support/removed_on_signal.hpp"

namespace sawtooth::experiments {

class FileLock {
 public:
  /// Locks PATH.lock with flock; throws UsageError when another process has it, or when the file
  /// cannot be made. File systems that know no locks get none.
  explicit FileLock(const std::string& path);
  /// Removes the file, as do signals that end the program; one that a killed process left behind is
  /// harmless.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::string lock_path_;
  int file_ = -1;
  std::optional<RemovedOnSignal> removed_;
};

}  // namespace sawtooth::experiments
