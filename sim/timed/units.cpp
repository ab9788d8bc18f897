#include "sim/timed/units.hpp"

#include "scheduler/tiling.hpp"

namespace sawtooth::sim {

UnitTable::UnitTable(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                     bool log_sum_exp) {
  const AtomTable atoms(problem, tiling, schedule, log_sum_exp);
  const int64_t q_heads = problem.batch * problem.heads;
  const int64_t kv_heads = problem.batch * problem.kv_heads;
  const auto add = [&](UnitGroup group, std::initializer_list<Tensor> tensors, int64_t heads,
                       int64_t tiles) {
    blocks_[static_cast<size_t>(group)] = {static_cast<int64_t>(sizes_.size()), tiles};
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t tile = 0; tile < tiles; ++tile) {
        AtomSize sum{.tensor = static_cast<uint8_t>(*tensors.begin()),
                     .tensors = static_cast<uint8_t>(tensors.size())};
        for (const Tensor tensor : tensors) {
          const AtomSize part = atoms.size(atoms.id(tensor, head, tile));
          sum.lines += part.lines;
          sum.sectors += part.sectors;
        }
        sizes_.push_back(sum);
        groups_.push_back(group);
      }
    }
  };
  const int64_t q_count = q_tiles(problem, tiling);
  add(UnitGroup::kv, {Tensor::k, Tensor::v}, kv_heads, kv_tiles(problem, tiling));
  add(UnitGroup::q, {Tensor::q}, q_heads, q_count);
  add(UnitGroup::o, {Tensor::o}, q_heads, q_count);
  if (log_sum_exp) add(UnitGroup::lse, {Tensor::lse}, q_heads, q_count);
  if (schedule.kv_split > 1) {
    add(UnitGroup::partial_o, {Tensor::partial_o}, q_heads * schedule.kv_split, q_count);
    add(UnitGroup::partial_lse, {Tensor::partial_lse}, q_heads * schedule.kv_split, q_count);
  }
  if (cuts_last_wave(schedule)) {
    const int64_t pieces = last_wave(problem, tiling, schedule).most_pieces();
    add(UnitGroup::partial_o, {Tensor::partial_o}, pieces, 1);
  }
}

}  // namespace sawtooth::sim
