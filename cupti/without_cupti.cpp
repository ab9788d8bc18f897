// Built instead of the profiler where CUPTI's headers are absent: the same functions, each of which
// says why it cannot work.

#include "cupti/metric_host.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

[[noreturn]] void not_built() {
  throw CounterError(Status::not_built, "counters are off");
}

}  // namespace

struct MetricGroup::Impl {};
struct RangeProfiler::Impl {};

std::vector<std::string> known_chips() {
  not_built();
}
CuptiVersion cupti_version() {
  not_built();
}
std::vector<MetricInfo> list_metrics(const std::string&, std::string_view) {
  not_built();
}

MetricGroup::MetricGroup(const std::string&, std::vector<std::string>,
                         const std::vector<uint8_t>&) {
  not_built();
}
const std::vector<std::string>& MetricGroup::metrics() const {
  not_built();
}
int64_t MetricGroup::passes() const {
  not_built();
}
const std::vector<uint8_t>& MetricGroup::config_image() const {
  not_built();
}
std::vector<double> MetricGroup::evaluate(std::span<const uint8_t>, size_t) const {
  not_built();
}
int64_t passes_of(const std::string&, const std::vector<std::string>&,
                  const std::vector<uint8_t>&) {
  not_built();
}

RangeProfiler::RangeProfiler(int) {
  not_built();
}
const std::string& RangeProfiler::chip() const {
  not_built();
}
MetricPlan RangeProfiler::plan(const std::vector<std::string>&, const std::vector<std::string>&,
                               BadMetrics) const {
  not_built();
}
Reading RangeProfiler::measure(const MetricPlan&, const std::function<void()>&,
                               const std::vector<NamedLaunch>&) {
  not_built();
}
void RangeProfiler::begin(const MetricGroup&, const std::function<void()>&) {
  not_built();
}
std::vector<double> RangeProfiler::end(const MetricGroup&) {
  not_built();
}
void RangeProfiler::release() {}

}  // namespace sawtooth::cupti
