#include "cupti/range_profiler.hpp"

#include <set>
#include <stdexcept>

#include "cupti/libraries.hpp"

namespace sawtooth::cupti {
namespace {

/// The current context, or the primary context of a device made current for this object's life.
class Context {
 public:
  explicit Context(int device) : driver_(open_driver()) {
    check_driver(driver_, driver_.context_current(&context_), "cuCtxGetCurrent");
    if (context_ != nullptr) {
      check_driver(driver_, driver_.context_device(&device_), "cuCtxGetDevice");
      return;
    }
    if (driver_.device_get(&device_, device) != CUDA_SUCCESS)
      throw CounterError(Status::no_driver, "CUDA device " + std::to_string(device));
    check_driver(driver_, driver_.primary_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    retained_ = true;
    check_driver(driver_, driver_.context_set_current(context_), "cuCtxSetCurrent");
  }
  ~Context() {
    if (!retained_) return;
    // A thread must not keep a context that may be gone; it had none before.
    CUcontext current = nullptr;
    if (driver_.context_current(&current) == CUDA_SUCCESS && current == context_)
      driver_.context_set_current(nullptr);
    driver_.primary_release(device_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  void synchronize() const { check_driver(driver_, driver_.synchronize(), "cuCtxSynchronize"); }
  CUcontext get() const { return context_; }
  CUdevice device() const { return device_; }
  const DriverLibrary& driver() const { return driver_; }

 private:
  DriverLibrary driver_;
  CUcontext context_ = nullptr;
  CUdevice device_ = 0;
  bool retained_ = false;
};

/// `context` is current for this object's life, then what was before.
class WhileCurrent {
 public:
  explicit WhileCurrent(const Context& context) : driver_(context.driver()) {
    driver_.context_current(&before_);
    driver_.context_set_current(context.get());
  }
  ~WhileCurrent() { driver_.context_set_current(before_); }
  WhileCurrent(const WhileCurrent&) = delete;
  WhileCurrent& operator=(const WhileCurrent&) = delete;

 private:
  const DriverLibrary& driver_;
  CUcontext before_ = nullptr;
};

/// CUPTI says "unsupported" through flags, one a reason.
void check_supported(const CuptiLibrary& cupti, CUdevice device) {
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(cupti.device_supported(&params), "cuptiProfilerDeviceSupported");
  const auto refuse_unless = [](CUpti_Profiler_Support_Level level, Status status) {
    const bool refused = level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
                         level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
    if (refused) throw CounterError(status, "counters are off");
  };
  refuse_unless(params.vGpu, Status::virtualized);
  refuse_unless(params.confidentialCompute, Status::confidential_computing);
  refuse_unless(params.wsl, Status::wsl);
  refuse_unless(params.isSupported, Status::unsupported_device);
}

std::string read_chip_name(const CuptiLibrary& cupti, CUdevice device) {
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Device_GetChipName_Params);
  params.deviceIndex = static_cast<size_t>(device);
  check(cupti.device_chip_name(&params), "cuptiDeviceGetChipName");
  return params.pChipName;
}

std::vector<uint8_t> read_availability(const CuptiLibrary& cupti, CUcontext context) {
  auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params);
  params.ctx = context;
  check(cupti.counter_availability(&params), "cuptiProfilerGetCounterAvailability");
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check(cupti.counter_availability(&params), "cuptiProfilerGetCounterAvailability");
  return image;
}

/// cuptiProfilerInitialize and its counterpart.
class Session {
 public:
  Session() : cupti_(open_cupti()) {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params);
    check(cupti_.initialize(&params), "cuptiProfilerInitialize");
  }
  ~Session() {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_Profiler_DeInitialize_Params);
    cupti_.deinitialize(&params);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  const CuptiLibrary& cupti() const { return cupti_; }

 private:
  CuptiLibrary cupti_;
};

/// An enabled range profiler object.
class Enabled {
 public:
  Enabled(const CuptiLibrary& cupti, CUcontext context) : cupti_(cupti) {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params);
    params.ctx = context;
    check(cupti_.range_enable(&params), "cuptiRangeProfilerEnable");
    object_ = params.pRangeProfilerObject;
  }
  ~Enabled() {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params));
    cupti_.range_disable(&params);
  }
  Enabled(const Enabled&) = delete;
  Enabled& operator=(const Enabled&) = delete;

  std::vector<uint8_t> make_counter_data(const MetricGroup& group, size_t ranges) const {
    std::vector<const char*> names = c_strings(group.metrics());
    auto size = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params));
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<uint32_t>(ranges);
    check(cupti_.range_counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
    std::vector<uint8_t> data(size.counterDataSize);
    empty(data);
    return data;
  }

  /// An image that is not emptied averages over the launches whose counters it was given.
  void empty(std::vector<uint8_t>& data) const {
    auto params =
        of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params));
    params.counterDataSize = data.size();
    params.pCounterData = data.data();
    check(cupti_.range_counter_data_initialize(&params),
          "cuptiRangeProfilerCounterDataImageInitialize");
  }

  void configure(const std::vector<uint8_t>& config, std::vector<uint8_t>& data,
                 size_t ranges) const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params));
    params.configSize = config.size();
    params.pConfig = config.data();
    params.counterDataImageSize = data.size();
    params.pCounterDataImage = data.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = ranges;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 1;
    check(cupti_.range_set_config(&params), "cuptiRangeProfilerSetConfig");
  }

  void start() const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params));
    check(cupti_.range_start(&params), "cuptiRangeProfilerStart");
  }

  /// Whether all passes have been submitted.
  bool stop() const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params));
    check(cupti_.range_stop(&params), "cuptiRangeProfilerStop");
    return params.isAllPassSubmitted != 0;
  }

  void push(const char* name) const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange_Params));
    params.pRangeName = name;
    check(cupti_.range_push(&params), "cuptiRangeProfilerPushRange");
  }

  void pop() const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange_Params));
    check(cupti_.range_pop(&params), "cuptiRangeProfilerPopRange");
  }

  void decode() const {
    auto params = of_object(SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params));
    check(cupti_.range_decode(&params), "cuptiRangeProfilerDecodeData");
    if (params.numOfRangeDropped != 0)
      throw CounterError(Status::ranges_dropped,
                         std::to_string(params.numOfRangeDropped) + " ranges");
  }

  size_t range_count(const std::vector<uint8_t>& data) const {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params);
    params.pCounterDataImage = data.data();
    params.counterDataImageSize = data.size();
    check(cupti_.range_counter_data_info(&params), "cuptiRangeProfilerGetCounterDataInfo");
    return params.numTotalRanges;
  }

  std::string range_name(const std::vector<uint8_t>& data, size_t range) const {
    auto params = SAWTOOTH_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
    params.pCounterDataImage = data.data();
    params.counterDataImageSize = data.size();
    params.rangeIndex = range;
    params.rangeDelimiter = "/";
    check(cupti_.range_info(&params), "cuptiRangeProfilerCounterDataGetRangeInfo");
    return params.rangeName;
  }

 private:
  template <class Params>
  Params of_object(Params params) const {
    params.pRangeProfilerObject = object_;
    return params;
  }

  CuptiLibrary cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

/// One replay of everything between Start and Stop. When user code throws, the open range and the
/// pass are closed on the way out, so that the profiler stays usable.
bool run_pass(const Context& context, const Enabled& profiler,
              const std::vector<NamedLaunch>& launches, const std::vector<const char*>& names) {
  profiler.start();
  bool range_open = false;
  try {
    for (size_t i = 0; i < launches.size(); ++i) {
      profiler.push(names[i]);
      range_open = true;
      launches[i].launch();
      context.synchronize();
      profiler.pop();
      range_open = false;
    }
  } catch (...) {
    try {
      if (range_open) profiler.pop();
      profiler.stop();
    } catch (const std::exception&) {
      // The first error is the one to report.
    }
    throw;
  }
  return profiler.stop();
}

RangeReading& range_named(Reading& reading, const std::string& name) {
  for (RangeReading& range : reading.ranges)
    if (range.name == name) return range;
  throw CounterError(Status::failed, "CUPTI returned an unknown range '" + name + "'");
}

constexpr const char* foreign_range = "launch";

void check_launches(const std::vector<NamedLaunch>& launches) {
  if (launches.empty()) throw std::invalid_argument("RangeProfiler::measure: nothing to launch");
  for (size_t i = 0; i < launches.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (launches[i].name == launches[j].name)
        throw std::invalid_argument("RangeProfiler::measure: two ranges are named '" +
                                    launches[i].name + "'");
}

}  // namespace

struct RangeProfiler::Impl {
  explicit Impl(int device) : context(device) {
    check_supported(session.cupti(), context.device());
    chip = read_chip_name(session.cupti(), context.device());
    availability = read_availability(session.cupti(), context.get());
    // Enabling shows missing privileges now rather than at the first measurement.
    profiler.emplace(session.cupti(), context.get());
    profiler.reset();
  }

  /// Hands the config of `group` to CUPTI and returns the image that will hold its counters. A
  /// second SetConfig on one range-profiler object is not honoured: passes go on writing into the
  /// first config's images (CUPTI 13.0.1, driver 580.159.04; freed images crash, kept ones leave
  /// the new images empty). So every group gets an object of its own, 0.16 s on an H200, and
  /// images live until the object that knows them is gone.
  std::vector<uint8_t>& configure(const MetricGroup& group, size_t ranges) {
    keeps = false;
    profiler.reset();
    config = group.config_image();
    profiler.emplace(session.cupti(), context.get());
    counter_data = profiler->make_counter_data(group, ranges);
    profiler->configure(config, counter_data, ranges);
    return counter_data;
  }

  /// The same for one range of `group`, by the object that counted it last where there is one.
  void configure_again(const MetricGroup& group) {
    if (keeps && profiler && config == group.config_image())
      profiler->empty(counter_data);
    else
      configure(group, 1);
    keeps = true;
  }

  void release() {
    keeps = false;
    if (!profiler) return;
    const WhileCurrent current(context);
    profiler.reset();
  }

  /// Range names, too, must outlive the measurement.
  const std::string& kept(const std::string& name) { return *range_names.insert(name).first; }

  /// Values of `group` from the one pass that was run.
  std::vector<double> decode(const MetricGroup& group) const {
    profiler->decode();
    if (profiler->range_count(counter_data) != 1)
      throw CounterError(Status::ranges_dropped, "a launch of another program");
    return group.evaluate(counter_data, 0);
  }

  Context context;  // first: CUPTI wants a context before it is initialised
  Session session;
  std::string chip;
  std::vector<uint8_t> availability;
  std::set<std::string> range_names;
  std::vector<uint8_t> config;
  std::vector<uint8_t> counter_data;
  bool keeps = false;               // `profiler` is set up for one range of `config`
  std::optional<Enabled> profiler;  // last: disabled before what it points to goes
};

RangeProfiler::RangeProfiler(int device) : impl_(std::make_shared<Impl>(device)) {}

const std::string& RangeProfiler::chip() const {
  return impl_->chip;
}

MetricPlan RangeProfiler::plan(const std::vector<std::string>& metrics,
                               const std::vector<std::string>& witnesses, BadMetrics bad) const {
  return plan_metrics(impl_->chip, metrics, witnesses, impl_->availability, bad);
}

Reading RangeProfiler::measure(const MetricPlan& plan, const std::function<void()>& prepare,
                               const std::vector<NamedLaunch>& launches) {
  check_launches(launches);
  Reading reading;
  std::vector<const char*> names;
  for (const NamedLaunch& launch : launches) {
    reading.ranges.push_back({launch.name, {}});
    names.push_back(impl_->kept(launch.name).c_str());
  }

  for (const MetricGroup& group : plan.groups) {
    const std::vector<uint8_t>& data = impl_->configure(group, launches.size());
    const Enabled& profiler = *impl_->profiler;
    const int64_t first_pass = reading.replay_passes;
    bool submitted = false;
    while (!submitted) {
      if (reading.replay_passes - first_pass > group.passes())
        throw CounterError(Status::failed, "CUPTI asks for more passes than it planned");
      prepare();
      impl_->context.synchronize();
      submitted = run_pass(impl_->context, profiler, launches, names);
      ++reading.replay_passes;
    }
    profiler.decode();
    if (profiler.range_count(data) != launches.size())
      throw CounterError(Status::ranges_dropped,
                         "a measurement of " + std::to_string(launches.size()) + " ranges");
    for (size_t i = 0; i < launches.size(); ++i) {
      RangeReading& range = range_named(reading, profiler.range_name(data, i));
      const std::vector<double> values = group.evaluate(data, i);
      for (size_t m = 0; m < values.size(); ++m)
        range.values.push_back({group.metrics()[m], values[m], first_pass});
    }
  }
  return reading;
}

void RangeProfiler::begin(const MetricGroup& group, const std::function<void()>& prepare) {
  try {
    impl_->configure_again(group);  // while what the program has launched before still runs
    impl_->context.synchronize();
    impl_->profiler->start();
    prepare();
    impl_->context.synchronize();
    impl_->profiler->push(foreign_range);
  } catch (...) {
    release();
    throw;
  }
}

std::vector<double> RangeProfiler::end(const MetricGroup& group) {
  try {
    impl_->context.synchronize();
    impl_->profiler->pop();
    if (!impl_->profiler->stop())
      throw CounterError(Status::failed, "CUPTI asks for more passes than one");
    return impl_->decode(group);
  } catch (...) {
    release();
    throw;
  }
}

void RangeProfiler::release() {
  impl_->release();
}

}  // namespace sawtooth::cupti
