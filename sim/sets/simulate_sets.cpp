#include "sim/sets/simulate_sets.hpp"

#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

// Sets of which heads come and go: the place of a head's atoms, and which atoms they hold.
class PlacedSets {
 public:
  PlacedSets(const MemoryLayout& layout, SetPartition& partition, SetsConsumer<LiveAtoms>& sets)
      : layout_(layout), partition_(partition), sets_(sets) {}

  void begin(const HeadRun& run) {
    spans_.clear();
    layout_.append(run.tensor, run.head, spans_);
    partition_.place(run.begin, spans_);
    sets_.forget({run.begin, run.begin + static_cast<AtomId>(spans_.size())});
  }
  void look_for_held() {
    held_.assign(partition_.parts().size(), 0);
    sets_.engine().mark_held(held_);
  }
  /// When it was looked last.
  bool holds(AtomRange atoms) const {
    for (AtomId atom = atoms.begin; atom < atoms.end; ++atom) {
      const auto [begin, end] = partition_.parts_of(atom);
      if (std::find(held_.begin() + begin, held_.begin() + end, 1) != held_.begin() + end)
        return true;
    }
    return false;
  }

 private:
  const MemoryLayout& layout_;
  SetPartition& partition_;
  SetsConsumer<LiveAtoms>& sets_;
  std::vector<LineSpan> spans_;  // of the head at hand
  std::vector<uint8_t> held_;    // of a part
};

struct LiveConsumer {
  SetsConsumer<LiveAtoms>& sets;
  HeldHeads<PlacedSets> heads;

  void visit(const Visit& visit) {
    heads.begin();
    sets.visit(visit);
    if (sets.is_drained()) heads.settle();
  }
};

}  // namespace

Prediction simulate_sets(const Request& request) {
  if (request.sets.policy == SetPolicy::opt) require_forward(request, "l2-policy = opt");
  const SetsParameters& parameters = request.sets;
  const SetGeometry geometry = set_geometry(request.l2_bytes, parameters);
  LiveAtoms atoms(request, KvAtoms::runs);
  const MemoryLayout layout(atoms.of_head(), geometry.line_bytes);
  SetPartition partition = set_partition(geometry, parameters);
  std::vector<LineSpan> spans;
  for (const Tensor tensor : all_tensors)
    for (int64_t head = 0; head < atoms.of_head().heads(tensor); ++head) {
      spans.clear();
      layout.append(tensor, head, spans);
      partition.tell_apart(spans);
    }
  SetsConsumer sets(atoms, partition, geometry, parameters);
  PlacedSets placed(layout, partition, sets);
  LiveConsumer consumer{sets, {atoms, placed}};
  Prediction prediction;
  prediction.steps = replay_lockstep(request, atoms, consumer);
  sets.drain();
  prediction.method = partition.description();
  prediction.tile_visits = sets.tally().visits();
  set_counters(prediction, [&](Tensor tensor) { return sets.tally().counters(tensor); });
  if (request.problem.pass == Pass::backward) know_reductions(prediction);
  return prediction;
}

}  // namespace sawtooth::sim
