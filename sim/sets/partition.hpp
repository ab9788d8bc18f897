// Sets that see the same sequence of lines, found by looking at the hash's image of every line
// (docs/models/exactness.md, B). One set of each class is simulated, and what it counts is
// multiplied.
//
// Let the hash send m(a, s) lines of atom a to set s. Sets with the same m(a, .) for every atom see
// the same visits, each as the same number of lines one after the other, so that every policy that
// decides by what its set saw does the same in all of them. Where each atom fills one class, tiles
// stand for lines; where it fills several, it is split; at worst every set is a class of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/sets/layout.hpp"
#include "sim/sets/set_hash.hpp"

namespace sawtooth::sim {

class SetPartition {
 public:
  /// One line of an atom in every set of a class.
  struct Part {
    uint32_t set_class = 0;
    uint32_t sectors = 0;  // of its lines together
  };

  /// With `by_lines` every set is a class of its own, and its class number is the set's.
  /// `why_by_lines` ends the sentence that description() says then.
  SetPartition(std::span<const LineSpan> atoms, const SetHash& hash, int64_t cache_line_bytes,
               bool by_lines, std::string why_by_lines);

  uint32_t classes() const { return static_cast<uint32_t>(sets_of_class_.size()); }
  size_t atoms() const { return first_part_.size() - 1; }
  /// Parts are numbered atom after atom; those of an atom are visited in their order.
  uint32_t first_part(AtomId atom) const { return first_part_[atom]; }
  const std::vector<uint32_t>& first_parts() const { return first_part_; }
  const std::vector<Part>& parts() const { return parts_; }
  /// Whether part numbers are atom numbers.
  bool whole_atoms() const { return parts_.size() == atoms(); }
  /// Whether no two lines of `atom` meet in a set. Then a second visit in direct succession hits
  /// under every policy and changes nothing.
  bool one_line_a_set(AtomId atom) const { return meets_[atom] == 0; }

  /// "tile-granular, N groups of sets", "split ...", or "line by line, because ...".
  std::string description() const;

 private:
  void refine(std::span<const uint32_t> images);
  void cut(std::span<const uint32_t> images, const LineSpan& atom, uint32_t sectors_a_line);

  std::vector<uint32_t> class_of_;        // of a set
  std::vector<uint32_t> sets_of_class_;   // number of sets
  std::vector<uint32_t> representative_;  // one set of each class
  std::vector<uint32_t> lines_in_;        // of the atom at hand, by set; scratch, all 0 between
  std::vector<uint32_t> first_part_{0};
  std::vector<Part> parts_;
  std::vector<uint8_t> meets_;
  int64_t lines_ = 0;
  uint32_t largest_atom_lines_ = 0;
  uint32_t most_parts_ = 0;  // of one atom
  bool by_lines_ = false;
  std::string why_by_lines_;
};

}  // namespace sawtooth::sim
