#include "cupti/metric_host.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cupti/libraries.hpp"
#include "cupti/status.hpp"

namespace sawtooth::cupti {
namespace {

/// One host object, freed with its owner.
class HostObject {
 public:
  HostObject(const CuptiLibrary& cupti, const std::string& chip,
             const std::vector<uint8_t>& availability)
      : cupti_(cupti) {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    const int result = cupti_.host_initialize(&params);
    // An unknown chip comes back as an invalid parameter (1) from some releases.
    if (result == invalid_parameter) throw CounterError(Status::chip_unknown, chip, result);
    check(result, "cuptiProfilerHostInitialize for chip " + chip);
    object_ = params.pHostObject;
  }
  ~HostObject() {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params);
    params.pHostObject = object_;
    cupti_.host_deinitialize(&params);
  }
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  int add(const std::vector<std::string>& metrics) {
    std::vector<const char*> names = c_strings(metrics);
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    params.pHostObject = object_;
    params.ppMetricNames = names.data();
    params.numMetrics = names.size();
    return cupti_.host_add_metrics(&params);
  }

  const CuptiLibrary& cupti() const { return cupti_; }
  CUpti_Profiler_Host_Object* get() const { return object_; }

 private:
  CuptiLibrary cupti_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

std::vector<uint8_t> build_config_image(const HostObject& host) {
  auto size = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params);
  size.pHostObject = host.get();
  check(host.cupti().host_config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
  std::vector<uint8_t> image(size.configImageSize);
  auto get = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params);
  get.pHostObject = host.get();
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  check(host.cupti().host_config_image(&get), "cuptiProfilerHostGetConfigImage");
  return image;
}

int64_t count_passes(const CuptiLibrary& cupti, std::vector<uint8_t>& image) {
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  check(cupti.host_passes(&params), "cuptiProfilerHostGetNumOfPasses");
  return static_cast<int64_t>(params.numOfPasses);
}

/// CUPTI rejects the whole list for one bad name; a throwaway object a metric finds which.
[[noreturn]] void throw_for_bad_metric(const CuptiLibrary& cupti, const std::string& chip,
                                       const std::vector<std::string>& metrics,
                                       const std::vector<uint8_t>& availability, int code) {
  for (const std::string& metric : metrics) {
    const int result = HostObject(cupti, chip, availability).add({metric});
    const std::string where = "metric '" + metric + "' on " + chip;
    if (result == invalid_parameter || result == invalid_metric_name)
      throw CounterError(Status::unknown_metric, where, result);
    if (result != 0) throw CounterError(Status::metric_not_schedulable, where, result);
  }
  throw CounterError(Status::metric_not_schedulable, "these metrics together on " + chip, code);
}

constexpr std::array<std::string_view, 3> kind_names{"counter", "ratio", "throughput"};

std::string or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

struct MetricGroup::Impl {
  Impl(const std::string& chip, std::vector<std::string> names,
       const std::vector<uint8_t>& availability)
      : metrics(std::move(names)), host(open_cupti(), chip, availability) {
    const int result = host.add(metrics);
    if (result != 0) throw_for_bad_metric(host.cupti(), chip, metrics, availability, result);
    config_image = build_config_image(host);
    passes = count_passes(host.cupti(), config_image);
  }

  std::vector<std::string> metrics;
  HostObject host;
  std::vector<uint8_t> config_image;
  int64_t passes = 0;
};

std::vector<std::string> known_chips() {
  const CuptiLibrary cupti = open_cupti();
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params);
  check(cupti.host_chips(&params), "cuptiProfilerHostGetSupportedChips");
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

CuptiVersion cupti_version() {
  const CuptiLibrary cupti = open_cupti();
  CuptiVersion version;
  check(cupti.get_version(&version.version), "cuptiGetVersion");
  version.folder = cupti.folder;
  return version;
}

std::vector<MetricInfo> list_metrics(const std::string& chip, std::string_view match) {
  const HostObject host(open_cupti(), chip, {});
  std::vector<MetricInfo> found;
  for (size_t kind = 0; kind < kind_names.size(); ++kind) {
    auto names = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
    names.pHostObject = host.get();
    names.metricType = static_cast<CUpti_MetricType>(kind);
    check(host.cupti().host_base_metrics(&names), "cuptiProfilerHostGetBaseMetrics");
    for (size_t i = 0; i < names.numMetrics; ++i) {
      const std::string name = names.ppMetricNames[i];
      if (name.find(match) == std::string::npos) continue;
      auto info = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
      info.pHostObject = host.get();
      info.pMetricName = name.c_str();
      check(host.cupti().host_metric_properties(&info), "properties of metric " + name);
      found.push_back({name, std::string(kind_names[kind]), or_empty(info.pDimUnit),
                       or_empty(info.pDescription)});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const MetricInfo& a, const MetricInfo& b) { return a.name < b.name; });
  return found;
}

MetricGroup::MetricGroup(const std::string& chip, std::vector<std::string> metrics,
                         const std::vector<uint8_t>& availability)
    : impl_(std::make_shared<Impl>(chip, std::move(metrics), availability)) {}

const std::vector<std::string>& MetricGroup::metrics() const {
  return impl_->metrics;
}
int64_t MetricGroup::passes() const {
  return impl_->passes;
}
const std::vector<uint8_t>& MetricGroup::config_image() const {
  return impl_->config_image;
}

std::vector<double> MetricGroup::evaluate(std::span<const uint8_t> counter_data,
                                          size_t range) const {
  std::vector<const char*> names = c_strings(impl_->metrics);
  std::vector<double> values(names.size());
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  params.pHostObject = impl_->host.get();
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  check(impl_->host.cupti().host_evaluate(&params), "cuptiProfilerHostEvaluateToGpuValues");
  return values;
}

int64_t passes_of(const std::string& chip, const std::vector<std::string>& metrics,
                  const std::vector<uint8_t>& availability) {
  return MetricGroup(chip, metrics, availability).passes();
}

}  // namespace sawtooth::cupti
