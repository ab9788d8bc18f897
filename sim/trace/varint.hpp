// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit says
// that more follow (LEB128: DWARF 5, section 7.6). Signed ones are folded to 0, -1, 1, -2 ...
// first.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sawtooth::sim {

inline constexpr size_t longest_varint = 10;  // bytes that 64 bits take

inline void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

constexpr uint64_t folded(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unfolded(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

/// Takes a number from the front of `bytes`; false when it does not end there, or has more than 64
/// bits.
inline bool take_varint(std::span<const char>& bytes, uint64_t& value) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes.front()) < 0x80) {  // almost always
    value = static_cast<uint8_t>(bytes.front());
    bytes = bytes.subspan(1);
    return true;
  }
  value = 0;
  for (size_t i = 0; i < longest_varint && i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i + 1 == longest_varint && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes = bytes.subspan(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace sawtooth::sim
