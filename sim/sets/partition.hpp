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
#include <memory>
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

  /// The parts of an atom, [begin, end); they are visited in this order.
  struct Parts {
    uint32_t begin = 0;
    uint32_t end = 0;
  };

  /// All sets are alike so far. With `by_lines` every set is a class of its own, and its class
  /// number is the set's; `why_by_lines` ends the sentence that description() says then.
  SetPartition(SetHash hash, int64_t cache_line_bytes, bool by_lines, std::string why_by_lines);
  /// The sets are told apart by these atoms, which are placed from number 0 on.
  SetPartition(std::span<const LineSpan> atoms, SetHash hash, int64_t cache_line_bytes,
               bool by_lines, std::string why_by_lines);

  /// Separates the sets that these atoms touch differently. All atoms go through here before the
  /// first is placed.
  void tell_apart(std::span<const LineSpan> atoms);
  /// From now on the atoms numbered from `first` on, at most one beyond those placed before, lie
  /// there; of those placed before no part may be in use. Throws std::invalid_argument when there
  /// would be more than 2^32 - 2 parts.
  void place(AtomId first, std::span<const LineSpan> atoms);

  uint32_t classes() const { return static_cast<uint32_t>(sets_of_class_.size()); }
  size_t atoms() const { return parts_of_.size(); }
  Parts parts_of(AtomId atom) const { return parts_of_[atom]; }
  /// By number; of a part of no atom there is nothing to be known.
  const std::vector<Part>& parts() const { return parts_; }
  /// Whether part numbers are atom numbers, of all atoms so far.
  bool whole_atoms() const { return whole_atoms_; }
  /// Whether no two lines of `atom` meet in a set. Then a second visit in direct succession hits
  /// under every policy and changes nothing.
  bool one_line_a_set(AtomId atom) const { return meets_[atom] == 0; }

  /// It says of the atoms that were placed: "tile-granular, N groups of sets", "split ...", or
  /// "line by line, because ...".
  std::string description() const;

 private:
  bool told_apart(const LineSpan& atom);
  void refine(std::span<const uint32_t> images);
  bool cut(const LineSpan& atom);
  void number(AtomId atom);

  SetHash hash_;
  uint32_t sectors_a_line_;
  bool by_lines_;
  std::string why_by_lines_;
  std::vector<uint32_t> class_of_;        // of a set
  std::vector<uint32_t> sets_of_class_;   // number of sets
  std::vector<uint32_t> representative_;  // one set of each class
  int64_t run_lines_;                     // aligned runs of these were never cut by an atom so far
  std::vector<Part> parts_;
  std::vector<Parts> parts_of_;    // of an atom
  std::vector<uint32_t> most_of_;  // parts for which an atom has numbers, from its first on
  std::vector<uint8_t> meets_;     // of an atom
  std::vector<uint8_t> used_;      // classes of parts so far
  bool whole_atoms_ = true;
  int64_t lines_ = 0;  // of all that was placed
  int64_t all_parts_ = 0;
  uint32_t largest_atom_lines_ = 0;
  uint32_t most_parts_ = 0;  // of one atom
  // These belong to the atom at hand.
  std::vector<uint32_t> images_;
  std::vector<uint32_t> lines_in_;  // by set, all 0 between
  std::vector<Part> cut_;
};

// What replays visits on the sets of a partition, one set of each class.

class SetEngine {
 public:
  virtual ~SetEngine() = default;
  /// Visits atoms in this order; `missed_sectors[i]` becomes what visit i missed in all its sets.
  /// Both spans have one size. May be called again and again with what comes next.
  virtual void visit(std::span<const AtomId> visits, std::span<uint32_t> missed_sectors) = 0;
  /// Sets held[part] of the parts of which lines are held. An engine that holds none, as it looks
  /// back, sets nothing.
  virtual void mark_held(std::span<uint8_t> held) const = 0;
  /// Parts of this atom, which are not held, stand for other lines from now on.
  virtual void forget(AtomId atom) = 0;
};

/// The engine of parameters.policy. `priorities`, which opt does not have, has one entry an atom,
/// or is null when all are normal. `partition`, which may place further atoms, and `priorities`
/// must outlive the engine.
std::unique_ptr<SetEngine> make_set_engine(const SetPartition& partition,
                                           const SetGeometry& geometry,
                                           const SetsParameters& parameters,
                                           const std::vector<Priority>* priorities);

}  // namespace sawtooth::sim
