#include <utility>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/schedule/wavefront.hpp"
#include "sim/sets/layout.hpp"
#include "sim/trace/analyse.hpp"

namespace sawtooth::sim {
namespace {

class ScheduleTracer : public WavefrontSink {
 public:
  /// `spans` has one entry an atom.
  ScheduleTracer(const AtomTable& atoms, std::vector<LineSpan> spans, TraceWriter& writer)
      : atoms_(atoms),
        writer_(writer),
        number_(atoms.sizes().size(), unseen),
        spans_(std::move(spans)) {}

  void begin_step(int64_t step) { step_ = static_cast<uint64_t>(step); }

  void touch(int64_t worker, AtomId atom, Access access) {
    const TraceVisit next{.atom = number_of(atom),
                          .access = access,
                          .worker = static_cast<uint32_t>(worker),
                          .step = step_};
    const bool joins = pending_.times > 0 && pending_.atom == next.atom &&
                       pending_.access == access && pending_.step == next.step &&
                       pending_.worker + pending_.times == next.worker;
    if (joins) {
      ++pending_.times;
      return;
    }
    flush();
    pending_ = next;
  }

  void flush() {
    if (pending_.times > 0) writer_.visit(pending_);
    pending_.times = 0;
  }

 private:
  static constexpr AtomId unseen = UINT32_MAX;

  AtomId number_of(AtomId atom) {
    if (number_[atom] == unseen) {
      flush();
      number_[atom] = defined_++;
      const AtomSize size = atoms_.size(atom);
      writer_.atom({spans_[atom].first, size.lines, size.sectors, atoms_.tensor_of(atom)});
    }
    return number_[atom];
  }

  const AtomTable& atoms_;
  TraceWriter& writer_;
  std::vector<AtomId> number_;  // in the order of first visits
  std::vector<LineSpan> spans_;
  AtomId defined_ = 0;
  uint64_t step_ = 0;
  TraceVisit pending_{.times = 0};
};

}  // namespace

void write_schedule(const Request& request, TraceWriter& writer) {
  const AtomTable atoms(request, KvAtoms::runs);
  const HeadAtoms of_head(request, KvAtoms::runs);
  const MemoryLayout layout(of_head, line_bytes);
  std::vector<LineSpan> spans;  // in the order of AtomTable
  layout.for_each_head([&](Tensor tensor, int64_t head) { layout.append(tensor, head, spans); });
  ScheduleTracer tracer(atoms, std::move(spans), writer);
  LockstepWavefront(request, atoms, tracer).run();
  tracer.flush();
  writer.finish();
}

}  // namespace sawtooth::sim
