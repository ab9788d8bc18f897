// The numbers of the binary trace format, version 1 (docs/reference/formats.md has it in full).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sawtooth::sim {

inline constexpr std::string_view trace_magic = "SAWTRACE";
inline constexpr uint32_t trace_version = 1;
inline constexpr size_t trace_head_bytes = 16;  // magic, version, zero

/// Each block: kind, number from 0 on, bytes stored, bytes when decompressed; then one zstd frame.
enum class BlockKind : uint32_t { description = 1, records = 2, end = 3 };
inline constexpr size_t block_head_bytes = 16;
inline constexpr uint32_t most_block_bytes = uint32_t{1} << 20;  // decompressed

// The first byte of a record. The low two bits are the access, or 3 for an atom's definition.
inline constexpr uint8_t tag_definition = 3;
inline constexpr uint8_t tag_access = 3;  // mask
inline constexpr uint8_t tag_backwards = 1 << 2;
inline constexpr uint8_t tag_times = 1 << 3;   // a number of times follows; 1 without
inline constexpr uint8_t tag_worker = 1 << 4;  // a worker follows; the next one without
inline constexpr uint8_t tag_step = 1 << 5;    // a difference of steps follows; 0 without
inline constexpr uint8_t tag_reduce = 1 << 6;  // the access, a write, is a reduction
inline constexpr uint8_t tag_unused = 1 << 7;

/// What the next record of a block is written relative to; each block begins anew.
struct RecordContext {
  uint64_t line = 0;  // after the atom defined last
  uint64_t atom = 0;  // visited last
  uint32_t worker = 0;
  uint64_t step = 0;
};

// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the top bit says
// that more follow (LEB128: DWARF 5, section 7.6). Signed ones are folded to 0, -1, 1, -2 ...
// first.

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
