// The atoms of a trace, by number. Of traces by lines there may be 10^8: eight bytes each where all
// are whole lines.
#pragma once

#include <cstdint>

#include "sim/big_pages.hpp"
#include "sim/schedule/atoms.hpp"
#include "sim/trace/trace.hpp"

namespace sawtooth::sim {

/// Lines first_line to first_line + lines - 1 of 128 bytes. All of them have four sectors of 32
/// bytes, but for the last, which has what `sectors` leaves: 4 (lines - 1) < sectors <= 4 lines.
struct TraceAtom {
  uint64_t first_line = 0;  // below 2^57
  uint32_t lines = 1;
  uint32_t sectors = 4;
  Tensor tensor = Tensor::other;
  friend bool operator==(const TraceAtom&, const TraceAtom&) = default;
};

class TraceAtoms {
 public:
  size_t size() const { return places_.size(); }
  TraceAtom operator[](size_t number) const {
    const Size size = all_are_lines() ? one_line : sizes_[number];
    return {first_line(number), size.lines, size.sectors, tensor(number)};
  }
  Tensor tensor(size_t number) const { return static_cast<Tensor>(places_[number] >> line_bits); }
  uint64_t first_line(size_t number) const {
    return places_[number] & ((uint64_t{1} << line_bits) - 1);
  }
  uint32_t lines(size_t number) const { return all_are_lines() ? 1 : sizes_[number].lines; }
  /// Whether each is a line, and whole.
  bool all_are_lines() const { return sizes_.empty(); }

  void push_back(const TraceAtom& atom) {
    const Size size{atom.lines, atom.sectors};
    if (all_are_lines() && size != one_line) sizes_.assign(places_.size(), one_line);
    places_.push_back(atom.first_line | static_cast<uint64_t>(atom.tensor) << line_bits);
    if (!all_are_lines() || size != one_line) sizes_.push_back(size);
  }

 private:
  struct Size {
    uint32_t lines = 0;
    uint32_t sectors = 0;
    friend bool operator==(const Size&, const Size&) = default;
  };
  static constexpr Size one_line{1, 4};
  static constexpr int line_bits = 57;
  static_assert(tensor_count <= 1 << (64 - line_bits));

  BigVector<uint64_t> places_;  // tensor and first line
  BigVector<Size> sizes_;       // empty while all are whole lines
};

// Which atom begins at a line: a table of atom numbers with open addressing, 8 to 16 bytes an atom.

class AtomIndex {
 public:
  static constexpr AtomId none = UINT32_MAX;

  /// `atoms` must outlive the index.
  explicit AtomIndex(const TraceAtoms& atoms) : atoms_(atoms) {}

  /// The same as find(line), and faster where the atom is the one that was new after `before`:
  /// scans come back in the order of their first visits.
  AtomId find_after(AtomId before, uint64_t line) const {
    const size_t guess = size_t{before} + 1;
    const bool right = guess < atoms_.size() && atoms_.first_line(guess) == line;
    return right ? static_cast<AtomId>(guess) : find(line);
  }

  /// The number of the atom that begins at `line`, or none.
  AtomId find(uint64_t line) const {
    size_t place = home(line);
    while (table_[place] != none && atoms_.first_line(table_[place]) != line) place = next(place);
    return table_[place];
  }

  /// Brings into the cache what find(line) will look at.
  void fetch(uint64_t line) const { __builtin_prefetch(&table_[home(line)]); }

  /// Takes in the last of `atoms`, which begins where none before it does.
  void add_last() {
    if (2 * atoms_.size() > table_.size()) {
      --shift_;
      const size_t twice = 2 * table_.size();
      table_ = {};  // before its successor is there
      table_.assign(twice, none);
      for (size_t atom = 0; atom + 1 < atoms_.size(); ++atom) place_in_table(atom);
    }
    place_in_table(atoms_.size() - 1);
  }

 private:
  static constexpr int initial_bits = 8;
  static constexpr int group_bits = 4;  // numbers in a cache line of 64 bytes
  static constexpr int tile_bits = 7;   // lines of a common tile, whose first lines must spread too

  // Neighbouring lines are neighbours in the table, in groups that multiplicative hashing by the
  // golden ratio spreads (Knuth, TAOCP 3, 6.4).
  size_t home(uint64_t line) const {
    const uint64_t group = (line >> group_bits) * 0x9e3779b97f4a7c15 >> shift_;
    const uint64_t within = (line ^ line >> tile_bits) & ((1 << group_bits) - 1);
    return size_t(group << group_bits | within);
  }
  // The next group, and not the same place in it: a full group is left at once, and an odd step
  // comes to every place.
  size_t next(size_t place) const {
    return (place + (size_t{1} << group_bits) + 1) & (table_.size() - 1);
  }
  void place_in_table(size_t atom) {
    size_t place = home(atoms_.first_line(atom));
    while (table_[place] != none) place = next(place);
    table_[place] = static_cast<AtomId>(atom);
  }

  const TraceAtoms& atoms_;
  int shift_ = 64 + group_bits - initial_bits;
  BigVector<AtomId> table_ = BigVector<AtomId>(size_t{1} << initial_bits, none);
};

}  // namespace sawtooth::sim
