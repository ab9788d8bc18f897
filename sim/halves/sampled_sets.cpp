#include "sim/halves/sampled_sets.hpp"

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

#include "scheduler/permutation.hpp"
#include "sim/halves/set_placement.hpp"

namespace sawtooth::sim {
namespace {

/// The power of two that leaves sampled_sets to 1.5 sampled_sets / 0.75 of the sets: tiles have
/// powers of two of lines, and then as many pieces as they should.
int64_t sampling(int64_t all_sets) {
  int64_t lines = 1;
  while (all_sets * 4 > lines * sampled_sets * 6) lines *= 2;
  return lines;
}

}  // namespace

SampledSets::SampledSets(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes) {
  check(parameters);
  const int64_t all_sets = parameters.capacity_lines / parameters.ways;
  lines_a_piece_ = sampling(all_sets);
  const int64_t sets = all_sets / lines_a_piece_;
  const int64_t reduced_sets =
      std::llround(parameters.reserved * double(sets) * double(parameters.ways));
  const auto ways = static_cast<uint32_t>(parameters.ways);
  const auto dirty_ways =
      parameters.dirty_ways == 0 ? ways : static_cast<uint32_t>(parameters.dirty_ways);
  rows_.assign(static_cast<size_t>(parameters.halves),
               RecencyRows(static_cast<uint32_t>(sets), ways, dirty_ways,
                           static_cast<uint32_t>(reduced_sets), parameters.path));
  struct Allocation {
    SetPlacement placement;
    std::array<int64_t, 2> of_home{};  // lines so far
  };
  std::vector<Allocation> allocations;
  std::map<std::vector<uint32_t>, size_t> units_begin;
  std::vector<uint32_t> units;
  atoms_.reserve(sizes.size() + 1);
  // The atoms of one tile share its pieces: a part of fewer lines than a piece stands for may have
  // none, and another part has its sectors.
  for (size_t tile = 0, end = 0; tile < sizes.size(); tile = end) {
    int64_t tile_lines = 0;
    int64_t tile_units = 0;
    for (; end < sizes.size() && (end == tile || sizes[end].goes_on); ++end) {
      tile_lines += sizes[end].lines;
      tile_units += sizes[end].sectors * units_per_sector;
    }
    const int64_t pieces = std::max<int64_t>(1, (tile_lines + lines_a_piece_ / 2) / lines_a_piece_);
    int64_t i = 0;
    int64_t lines_before = 0;
    for (size_t atom = tile; atom < end; ++atom) {
      const size_t first = sets_.size();
      units.clear();
      // Homes take turns; which one begins is chance, or it would agree with who reads the atom.
      const auto home_of = [&](int64_t piece) {
        return static_cast<int>((mix64(tile) + static_cast<uint64_t>(piece)) % 2) &
               (parameters.halves - 1);
      };
      const int first_home = home_of(i);
      lines_before += sizes[atom].lines;
      // A piece is that part's which has the middle one of its lines.
      for (; i < pieces && (2 * i + 1) * tile_lines <= 2 * pieces * lines_before; ++i) {
        // An atom of two tensors has half of its lines in each.
        const int64_t tensor = sizes[atom].tensor + i * sizes[atom].tensors / pieces;
        const auto number = static_cast<size_t>(parameters.one_allocation ? 0 : tensor);
        while (allocations.size() <= number) {
          allocations.push_back({SetPlacement(parameters, sets, allocations.size())});
        }
        Allocation& allocation = allocations[number];
        const int64_t line = allocation.of_home[static_cast<size_t>(home_of(i))]++;
        sets_.push_back(static_cast<uint16_t>(allocation.placement.set_of(line, home_of(i))));
        units.push_back(
            static_cast<uint32_t>(tile_units * (i + 1) / pieces - tile_units * i / pieces));
      }
      const auto [known, is_new] = units_begin.try_emplace(units, units_.size());
      if (is_new) units_.insert(units_.end(), units.begin(), units.end());
      atoms_.push_back({.first = static_cast<uint32_t>(first),
                        .units = static_cast<uint32_t>(known->second),
                        .first_home = static_cast<uint32_t>(first_home)});
    }
    if (sets_.size() >= RecencyRows::no_tag || sizes.size() >= RecencyRows::no_tag) {
      throw std::invalid_argument("halves: too many lines; switch the sets off (ways = 0)");
    }
  }
  atoms_.push_back({.first = static_cast<uint32_t>(sets_.size())});
}

}  // namespace sawtooth::sim
