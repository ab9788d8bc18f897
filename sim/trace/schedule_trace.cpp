#include <algorithm>
#include <vector>

#include "scheduler/memory_units.hpp"
#include "sim/schedule/wavefront.hpp"
#include "sim/sets/layout.hpp"
#include "sim/trace/analyse.hpp"

namespace sawtooth::sim {
namespace {

class ScheduleTracer : public WavefrontSink {
 public:
  ScheduleTracer(LiveAtoms& atoms, TraceWriter& writer)
      : atoms_(atoms), layout_(atoms.of_head(), line_bytes), writer_(writer) {
    atoms_.record_begun();
  }

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
    atoms_.take_begun([this](const HeadRun& run) { place(run); });
    if (number_[atom] == unseen) {
      flush();
      number_[atom] = defined_++;
      const AtomSize size = atoms_.size(atom);
      writer_.atom({spans_[atom].first, size.lines, size.sectors, atoms_.tensor_of(atom)});
    }
    return number_[atom];
  }

  void place(const HeadRun& run) {
    std::vector<LineSpan> spans;
    layout_.append(run.tensor, run.head, spans);
    spans_.resize(std::max(spans_.size(), run.begin + spans.size()));
    number_.resize(spans_.size(), unseen);
    std::ranges::copy(spans, spans_.begin() + run.begin);
  }

  LiveAtoms& atoms_;
  MemoryLayout layout_;
  TraceWriter& writer_;
  std::vector<AtomId> number_;   // in the order of first visits
  std::vector<LineSpan> spans_;  // of each atom
  AtomId defined_ = 0;
  uint64_t step_ = 0;
  TraceVisit pending_{.times = 0};
};

}  // namespace

void write_schedule(const Request& request, TraceWriter& writer) {
  LiveAtoms atoms(request, KvAtoms::runs);
  ScheduleTracer tracer(atoms, writer);
  LockstepWavefront(request, atoms, tracer).run();
  tracer.flush();
  writer.finish();
}

}  // namespace sawtooth::sim
