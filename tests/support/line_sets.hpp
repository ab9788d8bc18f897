// Whole schedules on a set-associative L2, line by line. Tensors are laid out by the layout's
// definition: each on a multiple of 2 MiB, tiles one after another, and paged K and V by the page
// table.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

#include "sim/schedule/wavefront.hpp"
#include "sim/sets/set_hash.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/generators.hpp"
#include "tests/support/naive_sets.hpp"

namespace sawtooth::tests {

class LineBySet : public sim::WavefrontSink {
 public:
  /// `atoms` are whole tiles; where K and V are paged a row is one line.
  LineBySet(const sim::Request& request, const sim::AtomTable& atoms)
      : request_(request),
        atoms_(atoms),
        geometry_(sim::set_geometry(request.l2_bytes, request.sets)),
        hash_(request.sets, geometry_.sets),
        cache_(static_cast<size_t>(geometry_.ways), static_cast<size_t>(geometry_.persisting_ways),
               request.sets.policy, request.sets.seed) {
    constexpr uint64_t aligned_lines = (2 << 20) / 128;
    uint64_t end = 0;
    for (sim::AtomId atom = 0; atom < atoms.sizes().size(); ++atom) {
      const sim::Tensor tensor = atoms.tensor_of(atom);
      if (atom == 0 || tensor != atoms.tensor_of(atom - 1)) {
        end = (end + aligned_lines - 1) / aligned_lines * aligned_lines;
        first_atom_ = atom;
        begin_ = end;
        if (is_paged(tensor)) end += pool_lines();
      }
      lines_.push_back(is_paged(tensor) ? paged_lines(atom) : run_from(end, atom));
      if (!is_paged(tensor)) end += atoms.size(atom).lines;
    }
  }

  void touch(int64_t, sim::AtomId atom, sim::Access access) {
    const auto tensor = static_cast<size_t>(atoms_.tensor_of(atom));
    sim::Counters& counters = by_tensor[tensor];
    const bool write = access == sim::Access::write;
    for (int64_t i = 0; i < atoms_.size(atom).lines; ++i) {
      const uint64_t line = lines_[atom][static_cast<size_t>(i)];
      const int64_t sectors = std::min<int64_t>(4, atoms_.size(atom).sectors - 4 * i);
      const bool hit = cache_.access(line, hash_.set_of(line), request_.sets.priorities[tensor]);
      const auto count = [&](sim::Sectors& counter) { counter = counter.value_or(0) + sectors; };
      if (access == sim::Access::read) count(counters.sm_read_sectors);
      count(write ? counters.l2_write_sectors : counters.l2_read_sectors);
      if (!hit) count(write ? counters.l2_write_miss_sectors : counters.l2_read_miss_sectors);
      if (seen_.insert(line).second && !write) count(counters.cold_read_sectors);
    }
  }

  std::array<sim::Counters, sim::tensor_count> by_tensor;

 private:
  using Lines = std::vector<uint64_t>;

  bool is_paged(sim::Tensor tensor) const {
    return request_.sequences.pages.paged() &&
           (tensor == sim::Tensor::k || tensor == sim::Tensor::v);
  }
  // A row is one line in these problems.
  uint64_t pool_lines() const {
    const Pages& pages = request_.sequences.pages;
    return uint64_t(pages.count * pages.rows * request_.problem.kv_heads);
  }
  Lines run_from(uint64_t first, sim::AtomId atom) const {
    Lines lines(atoms_.size(atom).lines);
    std::iota(lines.begin(), lines.end(), first);
    return lines;
  }
  Lines paged_lines(sim::AtomId atom) const {
    const Pages& pages = request_.sequences.pages;
    const Problem& problem = request_.problem;
    const int64_t tiles = kv_tiles(problem, request_.tiling);
    const int64_t head = (atom - first_atom_) / tiles, tile = (atom - first_atom_) % tiles;
    const int64_t sequence = head / problem.kv_heads, kv_head = head % problem.kv_heads;
    Lines lines;
    for (int64_t row = 0; row < atoms_.size(atom).lines; ++row) {
      const int64_t key = tile * request_.tiling.kv_rows + row;
      const int64_t page = pages.table[sequence * pages.stride + key / pages.rows];
      lines.push_back(
          begin_ + uint64_t((page * problem.kv_heads + kv_head) * pages.rows + key % pages.rows));
    }
    return lines;
  }

  const sim::Request& request_;
  const sim::AtomTable& atoms_;
  sim::SetGeometry geometry_;
  sim::SetHash hash_;
  NaiveSets cache_;
  std::vector<Lines> lines_;
  sim::AtomId first_atom_ = 0;  // of the tensor at hand
  uint64_t begin_ = 0;
  std::set<uint64_t> seen_;
};

/// Any of these hashes, and the first so many policies, in sets of 1 to 16 ways; gives the bytes of
/// an L2 that has them.
inline int64_t draw_sets(sim::SetsParameters& sets, int64_t policies) {
  sets.hash = static_cast<sim::HashKind>(between(0, 2));
  sets.policy = static_cast<sim::SetPolicy>(between(0, policies - 1));
  sets.ways = int64_t{1} << between(0, 4);
  sets.seed = static_cast<uint64_t>(between(0, 1000));
  const int64_t count =
      sets.hash == sim::HashKind::exclusive_or ? int64_t{1} << between(0, 5) : between(1, 40);
  return count * sets.ways * 128;
}

/// Any priority of each tensor, every second time.
inline void draw_priorities(sim::SetsParameters& sets) {
  if (between(0, 1) == 1)
    for (sim::Priority& priority : sets.priorities)
      priority = static_cast<sim::Priority>(between(0, 2));
}

}  // namespace sawtooth::tests
