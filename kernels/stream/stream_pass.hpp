// One pass of a stream over a buffer, as a value that needs no CUDA.
#pragma once

#include <cstdint>
#include <string_view>

namespace sawtooth::kernels {

enum class StreamAccess : uint8_t { ld, tma, write };
inline constexpr std::string_view stream_access_names[] = {"ld", "tma", "write"};

/// own: chunks are dealt out to the SMs like cards; all: every SM visits every chunk; one: a single
/// SM visits all.
enum class StreamMap : uint8_t { own, all, one };

struct StreamPass {
  StreamAccess access = StreamAccess::ld;
  StreamMap map = StreamMap::own;
  bool reversed = false;
  int shift = 0;    // own: the SM of rank r visits the chunks of rank (r + shift) mod SMs
  int rank = 0;     // one: the SM that reads
  int repeats = 1;  // passes inside the launch
  bool there_and_back = false;  // every other of them runs from the other end
};

}  // namespace sawtooth::kernels
