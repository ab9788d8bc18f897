#include "sim/sets/partition.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

SetPartition::SetPartition(std::span<const LineSpan> atoms, const SetHash& hash,
                           int64_t cache_line_bytes, bool by_lines, std::string why_by_lines)
    : by_lines_(by_lines), why_by_lines_(std::move(why_by_lines)) {
  const auto sets = static_cast<size_t>(hash.sets());
  lines_in_.assign(sets, 0);
  class_of_.assign(sets, 0);
  if (by_lines) {
    std::iota(class_of_.begin(), class_of_.end(), 0U);
    sets_of_class_.assign(sets, 1);
  } else {
    sets_of_class_.assign(1, static_cast<uint32_t>(sets));
  }
  std::vector<uint32_t> images;
  for (const LineSpan& atom : atoms) {
    lines_ += atom.lines;
    if (sets_of_class_.size() == sets) continue;  // nothing left to tell apart
    images.resize(atom.lines);
    hash.images(atom.first, images);
    refine(images);
  }
  if (lines_ > UINT32_MAX - 1) {
    throw std::invalid_argument("l2 = sets: the tensors have " + std::to_string(lines_) +
                                " lines; allowed: fewer than 2^32 - 1");
  }
  representative_.resize(sets_of_class_.size());
  for (size_t s = 0; s < sets; ++s) representative_[class_of_[s]] = static_cast<uint32_t>(s);
  first_part_.reserve(atoms.size() + 1);
  meets_.reserve(atoms.size());
  for (const LineSpan& atom : atoms) {
    images.resize(atom.lines);
    hash.images(atom.first, images);
    cut(images, atom, static_cast<uint32_t>(cache_line_bytes / sector_bytes));
  }
}

// Takes the sets apart that one atom touches differently: those with m lines of it leave a class
// unless they are the whole of it.
void SetPartition::refine(std::span<const uint32_t> images) {
  // The common case first: the atom fills one class, one line a set.
  const uint32_t first_class = class_of_[images.front()];
  bool one_class = sets_of_class_[first_class] == images.size();
  for (const uint32_t set : images) {
    const bool first_line = lines_in_[set]++ == 0;
    one_class &= first_line && class_of_[set] == first_class;
  }
  std::vector<uint32_t> touched;
  if (!one_class) {
    touched.assign(images.begin(), images.end());
    const auto key = [&](uint32_t set) {
      return std::array<uint32_t, 3>{class_of_[set], lines_in_[set], set};
    };
    std::sort(touched.begin(), touched.end(),
              [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  }
  for (size_t begin = 0, end = 0; begin < touched.size(); begin = end) {
    const uint32_t old_class = class_of_[touched[begin]];
    const uint32_t lines = lines_in_[touched[begin]];
    while (end < touched.size() && class_of_[touched[end]] == old_class &&
           lines_in_[touched[end]] == lines) {
      ++end;
    }
    const auto count = static_cast<uint32_t>(end - begin);
    if (count == sets_of_class_[old_class]) continue;
    const auto new_class = static_cast<uint32_t>(sets_of_class_.size());
    sets_of_class_[old_class] -= count;
    sets_of_class_.push_back(count);
    for (size_t i = begin; i < end; ++i) class_of_[touched[i]] = new_class;
  }
  for (const uint32_t set : images) lines_in_[set] = 0;
}

void SetPartition::cut(std::span<const uint32_t> images, const LineSpan& atom,
                       uint32_t sectors_a_line) {
  const auto begin = static_cast<uint32_t>(parts_.size());
  const uint32_t last_class = class_of_[images.back()];
  bool meets = false;
  for (const uint32_t set : images) {
    meets |= lines_in_[set]++ > 0;
    const uint32_t set_class = class_of_[set];
    if (representative_[set_class] != set) continue;
    parts_.push_back({set_class, sets_of_class_[set_class] * sectors_a_line});
  }
  // The last line of the atom is the last one in its set, so of its class's parts the last one too.
  const uint32_t unused = atom.lines * sectors_a_line - atom.sectors;
  const auto last = std::find_if(parts_.rbegin(), parts_.rend(),
                                 [&](const Part& part) { return part.set_class == last_class; });
  last->sectors -= unused;
  for (const uint32_t set : images) lines_in_[set] = 0;
  const auto end = static_cast<uint32_t>(parts_.size());
  first_part_.push_back(end);
  meets_.push_back(meets ? 1 : 0);
  if (atom.lines >= largest_atom_lines_) {
    largest_atom_lines_ = atom.lines;
    most_parts_ = std::max(most_parts_, end - begin);
  }
}

std::string SetPartition::description() const {
  if (by_lines_) return "line by line, because " + why_by_lines_;
  std::vector<uint8_t> used(sets_of_class_.size(), 0);
  for (const Part& part : parts_) used[part.set_class] = 1;
  const std::string groups =
      std::to_string(std::count(used.begin(), used.end(), 1)) + " groups of sets";
  if (whole_atoms()) return "tile-granular, " + groups;
  if (static_cast<int64_t>(parts_.size()) == lines_) {
    return "line by line, because no two sets see the same tiles";
  }
  return "split: tiles of " + std::to_string(largest_atom_lines_) + " lines into " +
         std::to_string(most_parts_) + " parts, " + groups;
}

}  // namespace sawtooth::sim
