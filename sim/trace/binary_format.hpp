// The numbers of the binary trace format, version 1 (docs/reference/formats.md has it in full).
#pragma once

#include <array>
#include <cstdint>
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

}  // namespace sawtooth::sim
