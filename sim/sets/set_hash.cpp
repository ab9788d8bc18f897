#include "sim/sets/set_hash.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "scheduler/memory_units.hpp"
#include "scheduler/permutation.hpp"

namespace sawtooth::sim {
namespace {

void require(bool good, const std::string& message) {
  if (!good) throw std::invalid_argument(message);
}

bool is_power_of_two(int64_t value) {
  return std::has_single_bit(static_cast<uint64_t>(value));
}

/// Throws std::invalid_argument unless `matrix` has log2(sets) rows, linearly independent over
/// GF(2), so that all sets are used and equally many lines map to each.
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

}  // namespace

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

SetGeometry set_geometry(int64_t l2_bytes, const SetsParameters& p) {
  const auto text = [](int64_t value) { return std::to_string(value); };
  require(p.line_bytes == 32 || p.line_bytes == 64 || p.line_bytes == line_bytes,
          "l2-line-bytes: " + text(p.line_bytes) +
              " is not allowed; allowed: 32, 64 or 128 (tiles are whole lines of 128 bytes)");
  require(p.ways >= 1, "l2-ways: " + text(p.ways) + " is not allowed; allowed: 1 or more");
  const int64_t way_bytes = p.ways * p.line_bytes;
  require(l2_bytes > 0 && l2_bytes % way_bytes == 0,
          "l2-bytes: " + text(l2_bytes) + " is no whole number of sets of " + text(p.ways) +
              " lines of " + text(p.line_bytes) + " bytes; allowed: multiples of " +
              text(way_bytes));
  SetGeometry geometry{l2_bytes / way_bytes, p.ways, p.line_bytes, 0};
  require(geometry.sets <= std::numeric_limits<int32_t>::max(),
          "l2-bytes: " + text(geometry.sets) + " sets; allowed: fewer than 2^31");
  if (p.hash == HashKind::exclusive_or)
    require(is_power_of_two(geometry.sets),
            "l2-hash: xor needs a power of two of sets, and l2-bytes / (l2-ways x l2-line-bytes) "
            "is " +
                text(geometry.sets) +
                "; allowed: balanced, modulo, or another l2-bytes or l2-ways");
  if (!p.matrix.empty()) check_matrix(p.matrix, geometry.sets);
  require(p.policy != SetPolicy::plru || is_power_of_two(p.ways),
          "l2-ways: " + text(p.ways) +
              " leaves the tree of l2-policy = plru ragged; allowed: a power of two");
  const int64_t most = l2_bytes / 8 * p.set_aside_eighths;
  const int64_t set_aside = p.set_aside_bytes.value_or(most);
  require(set_aside >= 0 && set_aside <= most,
          "l2-set-aside: " + text(set_aside) + " is not allowed; allowed: up to " +
              text(p.set_aside_eighths) + "/8 of l2-bytes, " + text(most));
  geometry.persisting_ways = set_aside / (geometry.sets * p.line_bytes);
  return geometry;
}

}  // namespace sawtooth::sim
