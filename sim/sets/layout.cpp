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
  if (is_paged(tensor)) return append_paged(tensor, head, spans);
  const int64_t heads = atoms_.heads_a_sequence(tensor);
  const Place& place = places_[static_cast<size_t>(tensor)][static_cast<size_t>(head / heads)];
  uint64_t address = place.begin_bytes + static_cast<uint64_t>(head % heads) * place.head_bytes;
  for (const AtomSize& size : atoms_.sizes(tensor, head)) {
    const int64_t lines = ceil_div(int64_t{size.sectors} * sector_bytes, cache_line_bytes_);
    spans.push_back({address / static_cast<uint64_t>(cache_line_bytes_),
                     static_cast<uint32_t>(lines), size.sectors});
    address += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
  }
}

void MemoryLayout::append_paged(Tensor tensor, int64_t head, std::vector<LineSpan>& spans) const {
  const PagedKeys& keys = atoms_.paged_keys(tensor);
  const uint64_t begin = places_[static_cast<size_t>(tensor)].front().begin_bytes;
  const int64_t runs = atoms_.count_a_tile(tensor);
  int64_t atom = 0;
  for (const AtomSize& size : atoms_.sizes(tensor, head)) {
    const int64_t tile = atom / runs, run = atom % runs;
    ++atom;
    if (size.lines == 0) {
      spans.push_back({});
      continue;
    }
    const uint64_t address =
        begin + static_cast<uint64_t>(keys.address(head, tile, run * keys.run_bytes()));
    const int64_t lines = ceil_div(int64_t{size.sectors} * sector_bytes, cache_line_bytes_);
    spans.push_back({address / static_cast<uint64_t>(cache_line_bytes_),
                     static_cast<uint32_t>(lines), size.sectors});
  }
}

}  // namespace sawtooth::sim
