#include <cmath>
#include <string>

#include "experiments/sawtooth/inputs/models.hpp"
#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "experiments/sawtooth/support/text.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/targets.hpp"

namespace sawtooth::fuzz {
namespace {

using namespace experiments;

constexpr std::string_view small_point =
    "seq = 150\nheads = 2\nmask = causal\nworkers = 6\nprefetch = 1\n";

// What a profile that is read may be used for: a small point with every model of L2. `kernels` may
// be null.
void use(const std::string& keys, const char* timing, Catalog& catalog,
         const ProfileFile* kernels = nullptr) {
  for (const L2Model& l2 : l2_models) {
    const std::string text = keys + std::string(small_point) + "timing = " + timing +
                             "\nl2 = " + std::string(l2.name) + "\n";
    try {
      const Configuration configuration = parse_configuration(text, "input");
      for (const Settings& settings : expand(configuration, {})) {
        Point point = resolve(settings, catalog);
        sim::Request& request = point.request;
        if (kernels != nullptr) set_kernel_cost(*kernels, {64, request.tiling}, request.kernel);
        const sim::Prediction prediction = predict(request, point.gpu, l2);
        require(prediction.total.dram_read_sectors >= prediction.total.cold_read_sectors,
                "nothing is read that did not come from memory");
        if (!prediction.time_us) continue;
        require(std::isfinite(*prediction.time_us) && *prediction.time_us > 0,
                "a launch takes time");
      }
    } catch (const UsageError&) {
    } catch (const std::invalid_argument&) {  // what a model cannot do
    }
  }
}

}  // namespace

void profile(std::span<const char> bytes) {
  static const InputFile file;
  static Catalog known;
  known.gpu({{"h200"}, {}});  // throws where no profiles are found, and nothing would be tried
  known.kernel("mma-h200", "fuzz");
  Choices choices(bytes);
  const int64_t kind = choices.below(2);
  const std::string& path = file.with(choices.rest());
  Catalog catalog = known;
  try {  // once, as most inputs are refused
    if (kind == 0) {
      catalog.gpu({{path}, {}});
      use("gpu = " + path + "\n", "lockstep", catalog);
      use("gpu = " + path + "\n", "timed", catalog);
    } else {
      const ProfileFile kernels = read_kernel_file(path);
      use("gpu = h200\n", "timed", catalog, &kernels);
    }
  } catch (const UsageError&) {
  }
}

}  // namespace sawtooth::fuzz
