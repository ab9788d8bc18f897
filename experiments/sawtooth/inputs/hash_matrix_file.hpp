// Reads the GF(2) matrix of an L2 hash (option l2-hash-matrix).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sawtooth::experiments {

/// One row a line, the lowest bit of the set number first: a mask of line-number bits, decimal or
/// hexadecimal with 0x, whose parity is that bit. '#' begins a comment. Throws UsageError with file
/// and line.
std::vector<uint64_t> read_hash_matrix(const std::string& path);

}  // namespace sawtooth::experiments
