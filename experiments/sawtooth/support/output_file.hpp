// A file that appears whole or not at all: written under a temporary name, then renamed. What is no
// regular file (a device, a pipe, standard output) is written to as it is. Files that are there
// while something is written, as temporary ones and locks, are not left behind by signals.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace sawtooth::experiments {

/// Where the bytes of an output go.
struct OutputPath {
  std::string path;  // links followed, so that a rename replaces the file and not a link to it
  bool replaceable;  // a regular file, or nothing yet
};

/// Throws UsageError for a folder, "-" and links without an end. Not replaceable are also files
/// that a link of /proc stands for, as /dev/stdout does: others have them open.
OutputPath output_path(const std::string& path);

/// Makes the folder, for what is written when the work is done; throws UsageError where that is not
/// possible, or nothing can be written into it.
std::filesystem::path output_folder(const std::string& path);

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

/// A lock that one process holds at a time and that ends with it.
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

class OutputFile {
 public:
  /// Opens the file, or PATH.tmp where it can be replaced; throws UsageError when that is not
  /// possible.
  explicit OutputFile(const std::string& path);
  /// Removes the temporary file unless commit() was called, as do signals that end the program.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text) { stream_ << text; }
  std::ostream& stream() { return stream_; }
  /// Renames to PATH; throws std::runtime_error when writing failed (a full disk).
  void commit();

 private:
  OutputPath target_;
  std::string temporary_;
  std::optional<RemovedOnSignal> temporary_removed_;
  std::ofstream stream_;
  bool committed_ = false;
};

/// Writes all of a file, or to standard output where `path` is "-". Throws as OutputFile does.
void write_output(const std::string& path, const std::string& text);

}  // namespace sawtooth::experiments
