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
  for (size_t atom = 0; atom < sizes.size(); ++atom) {
    first_.push_back(static_cast<uint32_t>(lines_.size()));
    const int64_t pieces =
        std::max<int64_t>(1, (sizes[atom].lines + lines_a_piece_ / 2) / lines_a_piece_);
    const int64_t units = sizes[atom].sectors * units_per_sector;
    for (int64_t i = 0; i < pieces; ++i) {
      // Homes take turns; which one begins is chance, or it would agree with who reads the atom.
      const bool second = (mix64(atom) + static_cast<uint64_t>(i)) % 2 == 1;
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
      lines_.push_back({static_cast<AtomId>(atom), static_cast<uint32_t>(set),
                        static_cast<uint32_t>(home),
                        static_cast<uint32_t>(units * (i + 1) / pieces - units * i / pieces)});
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
