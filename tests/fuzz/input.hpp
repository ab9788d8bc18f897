// What targets make of the bytes of an input, and the check that they share.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sawtooth::fuzz {

/// A check of a target: it stays in optimised builds, and both libFuzzer and GoogleTest see it.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("fuzz: does not hold: ") + what);
}

/// An input as a row of choices, a byte each; past its end the first choice of all.
class Choices {
 public:
  explicit Choices(std::span<const char> bytes) : bytes_(bytes) {}

  /// One of 0 .. count - 1; 1 <= count <= 256.
  int64_t below(int64_t count) {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte % count;
  }
  template <size_t count>
  std::string_view of(const std::array<std::string_view, count>& values) {
    return values[static_cast<size_t>(below(count))];
  }
  std::span<const char> rest() const { return bytes_; }

 private:
  std::span<const char> bytes_;
};

/// The bytes of an input as a file, for readers that take a path.
class InputFile {
 public:
  InputFile()
      : path_(
            (std::filesystem::temp_directory_path() / ("sawtooth-fuzz-" + std::to_string(getpid()) +
                                                       "-" + std::to_string(files()++) + ".ini"))
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
  static int& files() {
    static int made = 0;
    return made;
  }

  std::string path_;
  int file_;  // stays open: opening it anew for each input takes longer than reading it
};

}  // namespace sawtooth::fuzz
