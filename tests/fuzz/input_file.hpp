// The bytes of an input as a file, for readers that take a path.
#pragma once

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sawtooth::fuzz {

class InputFile {
 public:
  InputFile()
      : path_((std::filesystem::temp_directory_path() /
               ("sawtooth-fuzz-" + std::to_string(getpid()) + ".ini"))
                  .string()),
        file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)) {}
  ~InputFile() {
    close(file_);
    std::remove(path_.c_str());
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The file, which now has `bytes`.
  const std::string& with(std::span<const char> bytes) const {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (pwrite(file_, bytes.data(), bytes.size(), 0) != size || ftruncate(file_, size) != 0)
      throw std::system_error(errno, std::generic_category(), path_);
    return path_;
  }

 private:
  std::string path_;
  int file_;  // stays open: opening it anew for each input takes longer than reading it
};

}  // namespace sawtooth::fuzz
