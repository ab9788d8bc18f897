// A file that appears whole or not at all: written under a temporary name, then renamed. What is no
// regular file (a device, a pipe, standard output) is written to as it is.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "experiments/sawtooth/support/removed_on_signal.hpp"

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

}  // namespace sawtooth::experiments
