// The processes of one job under mpirun or srun, opened where there are several. The program links
// no MPI: it opens a plugin, and only under a launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace sawtooth::experiments {

/// What a sweep over several processes needs of MPI, as a table of functions: the one place where
/// the program and its plugin (mpi_plugin.cpp) meet. Messages are bytes. An error of MPI ends the
/// job, as MPI has it by default.
struct MessagePassing {
  int rank, size;
  void (*send)(int to, const char* bytes, size_t count);
  /// Bytes of the next message, and where it is from; -1 where none has come.
  long (*probe)(int* from);
  void (*receive)(int from, char* bytes, size_t count);
  void (*finish)();
};

/// Begins, once; the plugin exports it under this name.
using MessagePassingEntry = const MessagePassing* (*)();
inline constexpr const char* message_passing_entry = "sawtooth_message_passing";
inline constexpr const char* message_passing_plugin = "libsawtooth_mpi.so";

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
