#include "sim/schedule/live_atoms.hpp"

namespace sawtooth::sim {

LiveAtoms::LiveAtoms(const Request& request, KvAtoms kv) : head_(request, kv) {
  for (Block& block : blocks_) block.free.resize(head_.shapes());
  for (size_t t = 0; t < kind_of.size(); ++t) {
    const auto tensor = static_cast<Tensor>(t);
    if (head_.heads(tensor) == 0) continue;
    Block& block = blocks_[kind_of[t]];
    offset_[t] = block.count;
    require_atom_ids(block.count + head_.count(tensor));
    block.count += static_cast<AtomId>(head_.count(tensor));
  }
  int64_t next = 0;
  const auto number = [&](Tensor tensor) {
    number_[static_cast<size_t>(tensor)] = next;
    next += head_.heads(tensor) * head_.count(tensor);
  };
  if (kv == KvAtoms::pairs) number(Tensor::k);
  for (const Tensor tensor : all_tensors)
    if (kv != KvAtoms::pairs || (tensor != Tensor::k && tensor != Tensor::v)) number(tensor);
  if (kv != KvAtoms::pairs) return;
  offset_[static_cast<size_t>(Tensor::v)] = offset_[static_cast<size_t>(Tensor::k)];
}

AtomId LiveAtoms::find(Kind kind, int64_t head) {
  Block& block = blocks_[kind];
  const auto [at, is_new] = block.begin_of_head.try_emplace(head, 0);
  if (!is_new) return at->second;
  std::vector<AtomId>& free = block.free[shape_of(kind, head)];
  if (free.empty()) {
    require_atom_ids(std::ssize(sizes_) + block.count);
    free.push_back(static_cast<AtomId>(sizes_.size()));
    for (size_t t = 0; t < kind_of.size(); ++t) {
      const auto tensor = static_cast<Tensor>(t);
      if (kind_of[t] != kind || head_.heads(tensor) == 0) continue;
      const std::vector<AtomSize>& sizes = head_.sizes(tensor, head);
      sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
    }
  }
  at->second = free.back();
  free.pop_back();
  if (records_begun_) begun_.push_back({kind, head, at->second});
  return at->second;
}

void LiveAtoms::ended(Tensor q_or_k, int64_t flat_head) {
  const Kind kind = kind_of[static_cast<size_t>(q_or_k)];
  Block& block = blocks_[kind];
  const auto at = block.begin_of_head.find(flat_head);
  if (at == block.begin_of_head.end()) return;  // nothing was touched
  ended_.push_back({kind, shape_of(kind, flat_head), at->second});
  ended_atoms_ += block.count;
  block.begin_of_head.erase(at);
  recent_[kind][static_cast<size_t>(flat_head) % recents].head = -1;
}

}  // namespace sawtooth::sim
