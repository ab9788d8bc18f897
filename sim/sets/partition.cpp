#include "sim/sets/partition.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

SetPartition::SetPartition(SetHash hash, int64_t cache_line_bytes, bool by_lines,
                           std::string why_by_lines)
    : hash_(std::move(hash)),
      sectors_a_line_(static_cast<uint32_t>(cache_line_bytes / sector_bytes)),
      by_lines_(by_lines),
      why_by_lines_(std::move(why_by_lines)),
      run_lines_(hash_.lines_together()) {
  const auto sets = static_cast<size_t>(hash_.sets());
  lines_in_.assign(sets, 0);
  class_of_.assign(sets, 0);
  if (by_lines) {
    std::iota(class_of_.begin(), class_of_.end(), 0U);
    sets_of_class_.assign(sets, 1);
    run_lines_ = 1;
  } else {
    sets_of_class_.assign(1, static_cast<uint32_t>(sets));
  }
}

SetPartition::SetPartition(std::span<const LineSpan> atoms, SetHash hash, int64_t cache_line_bytes,
                           bool by_lines, std::string why_by_lines)
    : SetPartition(std::move(hash), cache_line_bytes, by_lines, std::move(why_by_lines)) {
  tell_apart(atoms);
  place(0, atoms);
}

void SetPartition::tell_apart(std::span<const LineSpan> atoms) {
  for (const LineSpan& atom : atoms) {
    if (atom.lines == 0 || told_apart(atom)) continue;
    images_.resize(atom.lines);
    hash_.images(atom.first, images_);
    refine(images_);
  }
}

// Whether nothing is left to tell apart: classes are unions of aligned runs of sets, as atoms are
// of lines, and with as many classes as runs each is a run.
bool SetPartition::told_apart(const LineSpan& atom) {
  while ((atom.first | atom.lines) % static_cast<uint64_t>(run_lines_) != 0) run_lines_ /= 2;
  return std::ssize(sets_of_class_) * run_lines_ == hash_.sets();
}

void SetPartition::place(AtomId first, std::span<const LineSpan> atoms) {
  if (representative_.empty()) {
    representative_.resize(sets_of_class_.size());
    used_.resize(sets_of_class_.size(), 0);
    for (size_t s = 0; s < class_of_.size(); ++s)
      representative_[class_of_[s]] = static_cast<uint32_t>(s);
  }
  for (const LineSpan& atom : atoms) {
    const bool meets = cut(atom);
    number(first);
    meets_[first++] = meets ? 1 : 0;
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
           lines_in_[touched[end]] == lines)
      ++end;
    const auto count = static_cast<uint32_t>(end - begin);
    if (count == sets_of_class_[old_class]) continue;
    const auto new_class = static_cast<uint32_t>(sets_of_class_.size());
    sets_of_class_[old_class] -= count;
    sets_of_class_.push_back(count);
    for (size_t i = begin; i < end; ++i) class_of_[touched[i]] = new_class;
  }
  for (const uint32_t set : images) lines_in_[set] = 0;
}

// Fills cut_ with the parts of an atom; returns whether lines of it meet in a set.
bool SetPartition::cut(const LineSpan& atom) {
  images_.resize(atom.lines);
  hash_.images(atom.first, images_);
  cut_.clear();
  if (images_.empty()) return false;
  const uint32_t last_class = class_of_[images_.back()];
  bool meets = false;
  for (const uint32_t set : images_) {
    meets |= lines_in_[set]++ > 0;
    const uint32_t set_class = class_of_[set];
    if (representative_[set_class] != set) continue;
    cut_.push_back({set_class, sets_of_class_[set_class] * sectors_a_line_});
  }
  // The last line of the atom is the last one in its set, so of its class's parts the last one too.
  const uint32_t unused = atom.lines * sectors_a_line_ - atom.sectors;
  const auto last = std::find_if(cut_.rbegin(), cut_.rend(),
                                 [&](const Part& part) { return part.set_class == last_class; });
  last->sectors -= unused;
  for (const uint32_t set : images_) lines_in_[set] = 0;
  const auto count = static_cast<uint32_t>(cut_.size());
  lines_ += atom.lines;
  all_parts_ += count;
  if (atom.lines >= largest_atom_lines_) {
    largest_atom_lines_ = atom.lines;
    most_parts_ = std::max(most_parts_, count);
  }
  return meets;
}

// Gives the parts in cut_ to `atom`: the numbers that it has, if they are enough. New ones are
// twice as many, so that those left behind are no more than those in use.
void SetPartition::number(AtomId atom) {
  const auto count = static_cast<uint32_t>(cut_.size());
  if (atom == parts_of_.size()) {
    parts_of_.emplace_back();
    most_of_.push_back(0);
    meets_.push_back(0);
  }
  if (count > most_of_[atom]) {
    const uint64_t more = std::max<uint64_t>(count, 2 * uint64_t{most_of_[atom]});
    if (parts_.size() + more > UINT32_MAX - 1)
      throw std::invalid_argument(
          "l2 = sets: tiles in use are cut into more than 2^32 - 2 parts; "
          "allowed: fewer, with larger tiles or shorter sequences");
    parts_of_[atom].begin = static_cast<uint32_t>(parts_.size());
    most_of_[atom] = static_cast<uint32_t>(more);
    parts_.resize(parts_.size() + more);
  }
  Parts& own = parts_of_[atom];
  own.end = own.begin + count;
  std::copy(cut_.begin(), cut_.end(), parts_.begin() + own.begin);
  whole_atoms_ &= own.begin == atom && count == 1;
  for (const Part& part : cut_) used_[part.set_class] = 1;
}

std::string SetPartition::description() const {
  if (by_lines_) return "line by line, because " + why_by_lines_;
  const std::string groups =
      std::to_string(std::count(used_.begin(), used_.end(), 1)) + " groups of sets";
  if (whole_atoms()) return "tile-granular, " + groups;
  if (all_parts_ == lines_) return "line by line, because no two sets see the same tiles";
  return "split: tiles of " + std::to_string(largest_atom_lines_) + " lines into " +
         std::to_string(most_parts_) + " parts, " + groups;
}

}  // namespace sawtooth::sim
