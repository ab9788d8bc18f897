#include "sim/halves/simulate_halves.hpp"

#include <cmath>
#include <vector>

#include "sim/halves/half_visits.hpp"
#include "sim/halves/two_halves.hpp"
#include "sim/schedule/wavefront.hpp"

namespace sawtooth::sim {
namespace {

std::vector<uint8_t> tensors_of(const AtomTable& atoms) {
  std::vector<uint8_t> tensors(atoms.sizes().size());
  for (size_t a = 0; a < tensors.size(); ++a) {
    tensors[a] = static_cast<uint8_t>(atoms.tensor_of(static_cast<AtomId>(a)));
  }
  return tensors;
}

// Feeds the L2 and counts what lies before it: sectors that SMs ask for, and cold reads.
class HalvesConsumer {
 public:
  HalvesConsumer(const AtomTable& atoms, const HalvesParameters& parameters,
                 const CoalescerParameters& coalescer)
      : atoms_(atoms),
        coalescer_(coalescer),
        l2_(parameters, atoms.sizes(), tensors_of(atoms), tensor_count),
        touched_(atoms.sizes().size(), 0) {}

  void visit(const HalfVisit& visit) {
    l2_.visit(visit);
    visits_ += visit.all_times();
    const int64_t sectors = atoms_.size(visit.atom).sectors;
    Demand& demand = demands_[static_cast<size_t>(atoms_.tensor_of(visit.atom))];
    const bool first = touched_[visit.atom] == 0;
    touched_[visit.atom] = 1;
    const int64_t asked = sectors * visit.all_times();
    if (visit.access == Access::write) {
      demand.written += asked;
      return;
    }
    if (first) demand.cold += sectors;
    if (visit.access == Access::read) demand.received += asked;
    demand.passed += double(asked) * passed_share(coalescer_, visit.all_times(), l2_.running());
  }

  Counters counters(int tensor) const {
    const Demand& demand = demands_[static_cast<size_t>(tensor)];
    Counters counters = l2_.counters(tensor);
    counters.sm_read_sectors = demand.received;
    counters.l2_read_sectors = std::llround(demand.passed);
    counters.l2_write_sectors = demand.written;
    counters.cold_read_sectors = demand.cold;
    return counters;
  }

  int64_t visits() const { return visits_; }

 private:
  struct Demand {
    int64_t received = 0;
    int64_t written = 0;
    int64_t cold = 0;
    double passed = 0;
  };

  const AtomTable& atoms_;
  CoalescerParameters coalescer_;
  TwoHalves l2_;
  std::vector<uint8_t> touched_;
  std::array<Demand, tensor_count> demands_{};
  int64_t visits_ = 0;
};

}  // namespace

Prediction simulate_halves(const Request& request, const HalvesParameters& parameters,
                           const CoalescerParameters& coalescer) {
  const AtomTable atoms(request.problem, request.tiling, request.schedule, request.log_sum_exp);
  HalvesConsumer consumer(atoms, parameters, coalescer);
  HalfVisits<HalvesConsumer> visits(consumer, parameters.halves, request.merge_lockstep);
  LockstepWavefront wavefront(request, atoms, visits);
  wavefront.run();
  visits.flush();
  Prediction prediction;
  prediction.steps = wavefront.steps();
  prediction.tile_visits = consumer.visits();
  for (int t = 0; t < tensor_count; ++t) {
    const Counters counters = consumer.counters(t);
    prediction.by_tensor[static_cast<size_t>(t)] = counters;
    add(prediction.total, counters);
  }
  return prediction;
}

}  // namespace sawtooth::sim
