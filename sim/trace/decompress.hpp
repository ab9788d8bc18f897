// gzip and zstd in front of any trace.
#pragma once

#include <istream>
#include <memory>
#include <string>

namespace sawtooth::sim {

/// A stream of what `in` holds compressed, null when its first bytes are of neither format. It can
/// be sought back to its beginning as long as little was read. What is damaged throws TraceError
/// that begins with `name`; a program without zlib says so of gzip. `in` must outlive it.
std::unique_ptr<std::istream> decompressed(std::istream& in, const std::string& name);

}  // namespace sawtooth::sim
