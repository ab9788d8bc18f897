#include "sim/sets/layout.hpp"

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

MemoryLayout::MemoryLayout(const HeadAtoms& atoms, int64_t cache_line_bytes)
    : atoms_(atoms), cache_line_bytes_(cache_line_bytes) {
  uint64_t end = 0;
  for (size_t t = 0; t < places_.size(); ++t) {
    const auto tensor = static_cast<Tensor>(t);
    if (atoms.heads(tensor) == 0) continue;
    end += tensor_alignment_bytes - 1;
    end -= end % tensor_alignment_bytes;
    if (is_paged(tensor)) {
      places_[t].push_back({.begin_bytes = end});
      end += static_cast<uint64_t>(atoms.paged_keys(tensor).all_bytes());
      continue;
    }
    const int64_t heads = atoms.heads_a_sequence(tensor);
    for (int64_t sequence = 0; sequence < atoms.sequences(tensor); ++sequence) {
      Place place{.begin_bytes = end};
      for (const AtomSize& size : atoms.sizes(tensor, sequence * heads))
        place.head_bytes += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
      places_[t].push_back(place);
      end += static_cast<uint64_t>(heads) * place.head_bytes;
    }
  }
}

void MemoryLayout::append(Tensor tensor, int64_t head, std::vector<LineSpan>& spans) const {
  const int64_t heads = atoms_.heads_a_sequence(tensor), runs = atoms_.count_a_tile(tensor);
  const bool paged = is_paged(tensor);
  const std::vector<Place>& places = places_[static_cast<size_t>(tensor)];
  const Place& place = paged ? places.front() : places[static_cast<size_t>(head / heads)];
  uint64_t address = place.begin_bytes + static_cast<uint64_t>(head % heads) * place.head_bytes;
  int64_t atom = 0;
  for (const AtomSize& size : atoms_.sizes(tensor, head)) {
    if (paged && size.lines > 0) {
      const PagedKeys& keys = atoms_.paged_keys(tensor);
      const int64_t in_tile = atom % runs * keys.run_bytes();
      address = place.begin_bytes + static_cast<uint64_t>(keys.address(head, atom / runs, in_tile));
    }
    ++atom;
    const int64_t lines = ceil_div(int64_t{size.sectors} * sector_bytes, cache_line_bytes_);
    spans.push_back({address / static_cast<uint64_t>(cache_line_bytes_),
                     static_cast<uint32_t>(lines), size.sectors});
    address += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
  }
}

}  // namespace sawtooth::sim
