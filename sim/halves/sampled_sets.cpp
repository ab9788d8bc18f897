#include "sim/halves/sampled_sets.hpp"

#include <cmath>
#include <stdexcept>

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

SampledSets::SampledSets(const HalvesParameters& parameters, const std::vector<AtomSize>& sizes)
    : ways_(static_cast<size_t>(parameters.ways)) {
  check(parameters);
  const int64_t all_sets = parameters.capacity_lines / parameters.ways;
  lines_a_piece_ = sampling(all_sets);
  const int64_t sets = all_sets / lines_a_piece_;
  for (int half = 0; half < parameters.halves; ++half) {
    halves_[static_cast<size_t>(half)].ways.resize(static_cast<size_t>(sets) * ways_);
  }

  reduced_sets_ = static_cast<uint32_t>(
      std::llround(parameters.reserved * double(sets) * double(parameters.ways)));
  struct Allocation {
    SetPlacement placement;
    std::array<int64_t, 2> of_home{};  // lines so far
  };
  std::vector<Allocation> allocations;
  first_.reserve(sizes.size() + 1);
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
      first_.push_back(static_cast<uint32_t>(lines_.size()));
      lines_before += sizes[atom].lines;
      // A piece is that part's which has the middle one of its lines.
      for (; i < pieces && (2 * i + 1) * tile_lines <= 2 * pieces * lines_before; ++i) {
        // Homes take turns; which one begins is chance, or it would agree with who reads the atom.
        const bool second = (mix64(tile) + static_cast<uint64_t>(i)) % 2 == 1;
        const int home = parameters.halves == 2 && second ? 1 : 0;
        // An atom of two tensors has half of its lines in each.
        const int64_t tensor = sizes[atom].tensor + i * sizes[atom].tensors / pieces;
        const auto number = static_cast<size_t>(parameters.one_allocation ? 0 : tensor);
        while (allocations.size() <= number) {
          allocations.push_back({SetPlacement(parameters, sets, allocations.size())});
        }
        Allocation& allocation = allocations[number];
        const int64_t line = allocation.of_home[static_cast<size_t>(home)]++;
        const int64_t set = allocation.placement.set_of(line, home);
        lines_.push_back(
            {static_cast<AtomId>(atom), static_cast<uint32_t>(set), static_cast<uint32_t>(home),
             static_cast<uint32_t>(tile_units * (i + 1) / pieces - tile_units * i / pieces)});
      }
    }
    if (lines_.size() >= no_line >> 1 || sizes.size() >= no_line >> 1) {
      throw std::invalid_argument("halves: too many lines; switch the sets off (ways = 0)");
    }
  }
  first_.push_back(static_cast<uint32_t>(lines_.size()));
  for (Half& half : halves_) {
    half.way_of.resize(lines_.size(), nowhere);
    half.visited.resize(sizes.size(), 0);
    for (size_t atom = 0; atom < sizes.size(); ++atom)
      half.lacking.push_back(first_[atom + 1] - first_[atom]);
  }
}

}  // namespace sawtooth::sim
