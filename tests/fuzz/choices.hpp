// An input as a row of choices, a byte each; past its end the first choice of all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sawtooth::fuzz {

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

}  // namespace sawtooth::fuzz
