#include "experiments/sawtooth/calibrate/recorded_sms.hpp"

#include <numeric>
#include <set>

#include "sim/timed/cta_order.hpp"
#include "sim/timed/placement.hpp"
#include "sim/timed/start_order.hpp"

namespace sawtooth::experiments {

bool same(const KernelShape& a, const KernelShape& b) {
  return kernel_section(a.head_dim, a.tiling) == kernel_section(b.head_dim, b.tiling);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

const RecordedItem& first(const RecordedLaunch& launch, int64_t cta) {
  return launch.ctas.at(static_cast<size_t>(cta)).front();
}

RecordedSms::RecordedSms(const std::vector<RecordedLaunch>& launches, const sim::Gpu& gpu,
                         double item_ns)
    : launches_(launches), count_(gpu.sms), item_ns_(item_ns) {
  const std::vector<sim::PlacedSm> placed = sim::placed_sms(gpu.sms, 2, gpu.layout);
  turns_ = sim::turns_of(placed, gpu.layout.tpc_turns);
  for (int64_t sm = 0; sm < count_; ++sm) {
    const auto gpc = static_cast<size_t>(placed[static_cast<size_t>(sm)].gpc);
    if (gpcs_.size() <= gpc) gpcs_.resize(gpc + 1);
    gpcs_[gpc].push_back(sm);
  }
  sharers_.resize(static_cast<size_t>(count_));
  const auto order = sim::sms_of_ctas(placed, gpu.layout, 2 * count_);
  std::set<int64_t> taken;
  for (size_t cta = 0; cta < order.size(); ++cta) {
    auto& [older, younger] = sharers_[static_cast<size_t>(order[cta])];
    (taken.insert(order[cta]).second ? older : younger) = static_cast<int64_t>(cta);
  }
}

Launches RecordedSms::steady(const KernelShape& kernel, int64_t an_sm, bool prefetches) const {
  return select([&](const RecordedLaunch& l) {
    return l.has_ctas(an_sm, count_) && l.is_steady() && (l.prefetch > 0) == prefetches &&
           same(l.kernel, kernel);
  });
}

bool RecordedSms::is_lone(const RecordedLaunch& launch) const {
  return launch.has_ctas(1, count_) && launch.prefetch == 0;
}

int64_t RecordedSms::cta_of(const RecordedLaunch& launch, int64_t sm, bool younger) const {
  if (launch.workers == count_) return sm;
  const auto& [first, second] = sharers_[static_cast<size_t>(sm)];
  return younger ? second : first;
}

std::vector<double> RecordedSms::paces(const RecordedLaunch& launch, bool younger) const {
  std::vector<double> paces;
  for (int64_t sm = 0; sm < count_; ++sm)
    paces.push_back(launch.pace(cta_of(launch, sm, younger), item_ns_));
  return paces;
}

std::optional<double> RecordedSms::pace_of(const KernelShape& kernel, int64_t an_sm) const {
  const Launches launches = steady(kernel, an_sm, false);
  if (launches.empty()) return std::nullopt;
  return median_over(launches, [&](auto& l) {
    return (median_of(paces(l)) + median_of(paces(l, an_sm > 1))) / 2;
  });
}

std::optional<double> RecordedSms::exp_ns() const {
  const auto of_narrow = pace_of(narrow, 1), of_wide = pace_of(wide, 1);
  if (!of_narrow || !of_wide) return std::nullopt;
  return 2 * (*of_narrow - *of_wide);
}

}  // namespace sawtooth::experiments
