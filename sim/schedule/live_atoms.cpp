#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

LiveAtoms::LiveAtoms(const Problem& problem, const Tiling& tiling, const Schedule& schedule,
                     bool log_sum_exp)
    : head_(problem, tiling, schedule, log_sum_exp, KvAtoms::parts) {
  for (size_t t = 0; t < kind_of.size(); ++t) {
    const auto tensor = static_cast<Tensor>(t);
    if (head_.heads(tensor) == 0) continue;
    Block& block = blocks_[kind_of[t]];
    offset_[t] = block.count;
    require_atom_ids(block.count + head_.count(tensor));
    block.count += static_cast<AtomId>(head_.count(tensor));
  }
}

AtomId LiveAtoms::find(Kind kind, int64_t head) {
  Block& block = blocks_[kind];
  const auto [at, is_new] = block.begin_of_head.try_emplace(head, 0);
  if (!is_new) return at->second;
  if (block.free.empty()) {
    require_atom_ids(std::ssize(sizes_) + block.count);
    block.free.push_back(static_cast<AtomId>(sizes_.size()));
    for (size_t t = 0; t < kind_of.size(); ++t) {
      const std::vector<AtomSize>& sizes = head_.sizes(static_cast<Tensor>(t));
      if (kind_of[t] == kind) sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
    }
  }
  at->second = block.free.back();
  block.free.pop_back();
  return at->second;
}

void LiveAtoms::ended(Tensor q_or_k, int64_t flat_head) {
  const Kind kind = kind_of[static_cast<size_t>(q_or_k)];
  Block& block = blocks_[kind];
  const auto at = block.begin_of_head.find(flat_head);
  if (at == block.begin_of_head.end()) return;  // nothing was touched
  ended_.emplace_back(kind, at->second);
  block.begin_of_head.erase(at);
  recent_[kind][static_cast<size_t>(flat_head) % recents].head = -1;
}

}  // namespace sawtooth::sim
