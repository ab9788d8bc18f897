// A file that appears whole or not at all: written under a temporary name, then renamed.
#pragma once

#include <fstream>
#include <string>

namespace sawtooth::experiments {

/// Throws UsageError when `path` cannot be replaced by a file: a folder, a device, or "-".
void require_replaceable(const std::string& path);

class OutputFile {
 public:
  /// Opens PATH.tmp; throws UsageError when that is not possible.
  explicit OutputFile(std::string path);
  /// Removes the temporary file unless commit() was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text) { stream_ << text; }
  std::ostream& stream() { return stream_; }
  /// Renames to PATH; throws std::runtime_error when writing failed (a full disk).
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  std::ofstream stream_;
  bool committed_ = false;
};

}  // namespace sawtooth::experiments
