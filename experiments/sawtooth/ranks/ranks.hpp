// The processes of one job under mpirun or srun, opened where there are several. The program links
// no MPI: it opens a plugin, and only under a launcher.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "experiments/sawtooth/ranks/message_passing.hpp"

namespace sawtooth::experiments {

/// Between two looks for messages.
inline constexpr std::chrono::microseconds pause_between_looks{200};

class Ranks {
 public:
  /// Nothing outside of a launcher, or of one process. Throws UsageError where there is a launcher
  /// and no plugin.
  static std::optional<Ranks> open();

  int rank() const { return table_->rank; }
  int size() const { return table_->size; }
  void send(int to, const std::string& bytes) const {
    table_->send(to, bytes.data(), bytes.size());
  }
  /// The next message and where it is from; nothing where none has come.
  std::optional<std::pair<int, std::string>> receive() const;
  /// Waits for it without keeping a core busy, as MPI's own waits do.
  std::pair<int, std::string> wait() const;
  /// All of the job call it; no message after it.
  void finish() const { table_->finish(); }

  explicit Ranks(const MessagePassing* table) : table_(table) {}  // open(), and tests

 private:
  const MessagePassing* table_;
};

}  // namespace sawtooth::experiments
