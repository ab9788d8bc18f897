// Files that are there while something is written, and that a signal must not leave behind.
#pragma once

#include <cstddef>
#include <string>

namespace sawtooth::experiments {

class RemovedOnSignal {
 public:
  /// As long as this lives, SIGINT, SIGTERM and SIGHUP remove `path`.
  explicit RemovedOnSignal(const std::string& path);
  ~RemovedOnSignal();
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;

 private:
  size_t slot_;
};

/// Lets these signals remove what is registered and end the program with 130. A command that ends
/// cleanly by itself may replace the handlers.
void remove_files_on_signals();

}  // namespace sawtooth::experiments
