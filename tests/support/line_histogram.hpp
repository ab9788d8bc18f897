// Distances of lines: every touch of an atom becomes an access to each of its lines, in ascending
// order, on a stack of lines.
#pragma once

#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/lru/distance_histogram.hpp"
#include "sim/schedule/wavefront.hpp"
#include "tests/support/atom_table.hpp"
#include "tests/support/mattson_stack.hpp"

namespace sawtooth::tests {

class LineLevelHistogram : public sim::WavefrontSink {
 public:
  explicit LineLevelHistogram(const sim::AtomTable& atoms) : atoms_(atoms), first_line_{0} {
    for (const sim::AtomSize& size : atoms.sizes())
      first_line_.push_back(first_line_.back() + size.lines);
  }

  void touch(int64_t, sim::AtomId atom, sim::Access access) {
    const sim::AtomSize size = atoms_.size(atom);
    sim::DistanceClass& distances = histogram.of(atoms_.tensor_of(atom), access);
    for (uint32_t line = 0; line < size.lines; ++line) {
      const int64_t sectors =
          min_of(sectors_per_line, int64_t{size.sectors} - line * sectors_per_line);
      const int64_t distance = stack_.access(first_line_[atom] + line);
      if (distance == MattsonStack::cold)
        distances.add_cold(sectors);
      else
        distances.add(distance, sectors);
    }
  }

  sim::DistanceHistogram histogram;

 private:
  const sim::AtomTable& atoms_;
  std::vector<int64_t> first_line_;
  MattsonStack stack_;
};

}  // namespace sawtooth::tests
