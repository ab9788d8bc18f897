#include "sim/timed/step_times.hpp"

#include "scheduler/permutation.hpp"
#include "sim/timed/chance.hpp"

namespace sawtooth::sim {
namespace {

// Streams of SMs, apart from those of workers.
constexpr uint64_t sm_salt = uint64_t{1} << 33;
constexpr uint64_t phase_salt = uint64_t{1} << 34;

}  // namespace

StepTimes::StepTimes(const TimedParameters& parameters, const StepCost& cost, bool prefetches,
                     const std::vector<PlacedSm>& placed, uint64_t seed)
    : parameters_(parameters),
      cost_(cost),
      prefetches_(prefetches),
      seed_(seed),
      slowness_(slowness_of(placed, parameters.step, seed)),
      phases_(parameters.step.wrong_phase, cost.shared_ns(2, 0), parameters.sms,
              mix_seed(seed, phase_salt)),
      ctas_(static_cast<size_t>(parameters.sms)) {}

StepTimes::Company StepTimes::company_of(const SmCta& cta) const {
  Company company;
  for (const SmCta* other : ctas_[static_cast<size_t>(cta.sm)]) {
    if (!other->active) continue;
    ++company.ctas;
    if (other->age < cta.age) ++company.older;
    if (prefetches_ && other->has_lines) ++company.with_lines;
  }
  return company;
}

double StepTimes::step_ns(SmCta& cta, double now_ns, double read_bytes_a_ns) {
  const Company company = company_of(cta);
  double ns = parameters_.sharing ? cost_.shared_ns(company.ctas, company.older) : cost_.alone_ns();
  if (prefetches_) {
    const PrefetchTimes& cost =
        company.ctas < 2 ? parameters_.step.prefetch : parameters_.step.prefetch_shared;
    const double mean = double(company.with_lines) / company.ctas;
    const double more = (cta.has_lines ? 1 : 0) - mean;  // than the mean of the CTAs on the SM
    ns = (ns + cost.added_ns(mean)) * (1 + 2 * more * parameters_.step.prefetch_lines_bias);
  }
  ns *= 1 + jitter_of(cta, company, now_ns);
  ns *= 1 + parameters_.dram_slowness * read_bytes_a_ns;
  return ns * cta.pace.factor() * slowness_.of(static_cast<size_t>(cta.sm), company.ctas);
}

// What the step takes longer by chance, as a share. Of CTAs that share an SM older ones jitter
// less; CTAs that alternate share one random sample per SM and step, and their phase.
double StepTimes::jitter_of(SmCta& cta, const Company& company, double now_ns) {
  const StepParameters& step = parameters_.step;
  const auto [ctas, older, with_lines] = company;
  if (ctas < 2) return step.jitter > 0 ? step.jitter * noise(cta.random) : 0;
  if (step.keep_step) {
    const double phase = phases_.slowness(cta.sm, now_ns);
    const double jitter = step.jitter_in_step.value_or(0);
    if (jitter <= 0) return phase;
    const auto step_number = static_cast<uint64_t>(now_ns / cost_.shared_ns(ctas, 0));
    uint64_t of_sm =
        mix_seed(mix_seed(seed_, sm_salt + static_cast<uint64_t>(cta.sm)), step_number);
    return phase + jitter * noise(of_sm);
  }
  const double jitter = step.jitter_shared.value_or(0);
  if (jitter <= 0) return 0;
  const double youth = double(2 * older - (ctas - 1)) / double(ctas - 1);  // -1 ... 1
  return jitter * (1 + step.jitter_by_age * youth) * noise(cta.random);
}

}  // namespace sawtooth::sim
