#include "sim/sets/set_hash.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "scheduler/permutation.hpp"

namespace sawtooth::sim {

void check_matrix(std::span<const uint64_t> matrix, int64_t sets) {
  const auto size = static_cast<uint64_t>(sets);
  if (!std::has_single_bit(size) || matrix.size() != static_cast<size_t>(std::countr_zero(size)))
    throw std::invalid_argument("l2-hash-matrix: " + std::to_string(matrix.size()) + " rows for " +
                                std::to_string(sets) +
                                " sets; allowed: log2 of the number of sets, a power of two");
  // Gaussian elimination: a row that becomes 0 depends on those before it.
  std::vector<uint64_t> reduced;
  for (size_t row = 0; row < matrix.size(); ++row) {
    uint64_t rest = matrix[row];
    for (const uint64_t pivot : reduced)
      if ((rest & std::bit_floor(pivot)) != 0) rest ^= pivot;
    if (rest == 0)
      throw std::invalid_argument("l2-hash-matrix: row " + std::to_string(row + 1) +
                                  " is a sum of the rows before it, so that some sets stay empty; "
                                  "allowed: linearly independent rows");
    reduced.push_back(rest);
  }
}

SetHash::SetHash(const SetsParameters& parameters, int64_t sets)
    : kind_(parameters.hash), sets_(sets), matrix_(parameters.matrix) {
  const auto size = static_cast<uint64_t>(sets);
  set_bits_ = std::countr_zero(size);
  if (kind_ == HashKind::exclusive_or) {
    if (!std::has_single_bit(size))
      throw std::invalid_argument("l2-hash: xor needs a power of two of sets, not " +
                                  std::to_string(sets));
    if (!matrix_.empty()) check_matrix(matrix_, sets);
  }
  while (chunk_ < chunk_lines && sets % (2 * chunk_) == 0) chunk_ *= 2;
}

int64_t SetHash::lines_together() const {
  if (kind_ == HashKind::balanced) return chunk_;
  return matrix_.empty() ? int64_t{1} << set_bits_ : 1;
}

uint32_t SetHash::chunk_start(uint64_t chunk) const {
  const auto groups = static_cast<uint64_t>(sets_ / chunk_);
  const int64_t group = permuted(static_cast<int64_t>(chunk % groups), static_cast<int64_t>(groups),
                                 mix_seed(0, chunk / groups));
  return static_cast<uint32_t>(group * chunk_);
}

uint32_t SetHash::set_of(uint64_t line) const {
  if (kind_ == HashKind::modulo) return static_cast<uint32_t>(line % static_cast<uint64_t>(sets_));
  if (kind_ == HashKind::balanced) {
    const auto chunk = static_cast<uint64_t>(chunk_);
    return chunk_start(line / chunk) + static_cast<uint32_t>(line % chunk);
  }
  uint32_t set = 0;
  if (matrix_.empty()) {
    if (set_bits_ == 0) return 0;
    for (; line != 0; line >>= set_bits_) set ^= static_cast<uint32_t>(line & uint64_t(sets_ - 1));
    return set;
  }
  for (size_t bit = 0; bit < matrix_.size(); ++bit)
    set |= static_cast<uint32_t>(std::popcount(line & matrix_[bit]) & 1) << bit;
  return set;
}

void SetHash::images(uint64_t first_line, std::span<uint32_t> images) const {
  if (kind_ != HashKind::balanced) {
    for (uint32_t& image : images) image = set_of(first_line++);
    return;
  }
  const auto chunk = static_cast<uint64_t>(chunk_);
  for (size_t i = 0; i < images.size();) {
    const uint32_t start = chunk_start(first_line / chunk);
    do {
      images[i++] = start + static_cast<uint32_t>(first_line++ % chunk);
    } while (i < images.size() && first_line % chunk != 0);
  }
}

}  // namespace sawtooth::sim
