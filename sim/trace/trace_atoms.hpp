// The atoms of a trace, by number. Of traces by lines there may be 10^8: eight bytes each where all
// are whole lines.
#pragma once

#include <cstdint>

#include "sim/big_pages.hpp"
#include "sim/schedule/atoms.hpp"

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

}  // namespace sawtooth::sim
