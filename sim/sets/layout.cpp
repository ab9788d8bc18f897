#include "sim/sets/layout.hpp"

#include "scheduler/integer_math.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::sim {

std::vector<LineSpan> line_spans(const AtomTable& atoms, int64_t cache_line_bytes) {
  std::vector<LineSpan> spans;
  spans.reserve(atoms.sizes().size());
  uint64_t address = 0;
  Tensor tensor = Tensor::q;
  for (size_t a = 0; a < atoms.sizes().size(); ++a) {
    const Tensor own = atoms.tensor_of(static_cast<AtomId>(a));
    if (own != tensor) {
      address += tensor_alignment_bytes - 1;
      address -= address % tensor_alignment_bytes;
      tensor = own;
    }
    const AtomSize size = atoms.size(static_cast<AtomId>(a));
    const int64_t lines = ceil_div(int64_t{size.sectors} * sector_bytes, cache_line_bytes);
    spans.push_back({address / static_cast<uint64_t>(cache_line_bytes),
                     static_cast<uint32_t>(lines), size.sectors});
    address += uint64_t{size.lines} * static_cast<uint64_t>(line_bytes);
  }
  return spans;
}

}  // namespace sawtooth::sim
