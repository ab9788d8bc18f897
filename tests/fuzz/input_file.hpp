// The bytes of an input as a file, for readers that take a path.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include <unistd.h>

namespace sawtooth::fuzz {

class InputFile {
 public:
  InputFile()
      : path_((std::filesystem::temp_directory_path() /
               ("sawtooth-fuzz-" + std::to_string(getpid()) + ".ini"))
                  .string()) {}
  ~InputFile() { std::remove(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// The file, which now has `bytes`.
  const std::string& with(std::span<const char> bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return path_;
  }

 private:
  std::string path_;
};

}  // namespace sawtooth::fuzz
