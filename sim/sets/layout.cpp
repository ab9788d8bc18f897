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
    Place& place = places_[t];
    end += tensor_alignment_bytes - 1;
    place.begin_bytes = end - end % tensor_alignment_bytes;
    for (const AtomSize& size : atoms.sizes(tensor)) {
      place.head_bytes += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
    }
    end = place.begin_bytes + static_cast<uint64_t>(atoms.heads(tensor)) * place.head_bytes;
  }
}

void MemoryLayout::append(Tensor tensor, int64_t head, std::vector<LineSpan>& spans) const {
  const Place& place = places_[static_cast<size_t>(tensor)];
  uint64_t address = place.begin_bytes + static_cast<uint64_t>(head) * place.head_bytes;
  for (const AtomSize& size : atoms_.sizes(tensor)) {
    const int64_t lines = ceil_div(int64_t{size.sectors} * sector_bytes, cache_line_bytes_);
    spans.push_back({address / static_cast<uint64_t>(cache_line_bytes_),
                     static_cast<uint32_t>(lines), size.sectors});
    address += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
  }
}

}  // namespace sawtooth::sim
