// Short names for contents: FNV-1a, 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv, section 2).
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace sawtooth::experiments {

class ContentHash {
 public:
  ContentHash& add(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * prime;
    return *this;
  }
  /// A piece that stays apart from the next one.
  ContentHash& add_line(std::string_view text) { return add(text).add("\n"); }
  ContentHash& add_number(int64_t number) { return add_line(std::to_string(number)); }

  uint64_t number() const { return state_; }
  /// The first `digits` of 16 hexadecimal digits.
  std::string text(int digits = 16) const {
    char all[17];
    std::snprintf(all, sizeof all, "%016llx", static_cast<unsigned long long>(state_));
    return std::string(all, static_cast<size_t>(digits));
  }

 private:
  static constexpr uint64_t prime = 0x100000001b3ULL;
  uint64_t state_ = 0xcbf29ce484222325ULL;  // the offset basis
};

/// Stands for a text in the memory of one process: two texts of one process agree with a
/// probability of about 2^-128.
struct TextKey {
  uint64_t first = 0, second = 0;

  explicit TextKey(std::string_view text)
      : first(ContentHash().add(text).number()), second(std::hash<std::string_view>()(text)) {}
  friend bool operator==(const TextKey&, const TextKey&) = default;
  struct Hash {
    size_t operator()(const TextKey& key) const { return key.first; }
  };
};

/// Digits that tell the contents of one kind of file apart.
inline constexpr int content_digits = 8;

}  // namespace sawtooth::experiments
