// What a sweep over several processes needs of MPI, as a table of functions: the one place where
// the program and its plugin (mpi_plugin.cpp) meet. Messages are bytes. An error of MPI ends the
// job, as MPI has it by default.
#pragma once

#include <cstddef>

namespace sawtooth::experiments {

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

}  // namespace sawtooth::experiments
