// What zstd makes of a text.
#pragma once

#include <string>

#include <zstd.h>

namespace sawtooth::tests {

inline std::string compressed(const std::string& text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), 1));
  return frame;
}

}  // namespace sawtooth::tests
