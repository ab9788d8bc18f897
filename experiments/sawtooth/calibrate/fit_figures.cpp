// The numbers of a fit by name: to a table, to a profile, and back.
#include <array>
#include <sstream>
#include <stdexcept>

#include "experiments/sawtooth/calibrate/fit_streams.hpp"
#include "scheduler/memory_units.hpp"

namespace sawtooth::experiments {
namespace {

struct FitNumber {
  std::string_view name;
  std::string_view unit;
  std::string_view how;  // source, rationale and effect
  double& (*in)(StreamFit&);
  std::string_view profile_key;  // empty: a fact of the run, not of the GPU
};

constexpr auto numbers = std::to_array<FitNumber>({
    {"reserved", "1",
     "fitted to streams; lines of a half that no reader's line ever holds; lowers what a reversed "
     "pass keeps",
     [](StreamFit& f) -> double& { return f.l2.reserved; }, "l2-reserved-share"},
    {"far_first_waiting", "1",
     "least squares on `all` streams by loads; lines that both halves want and the far half's "
     "request reaches first while all wait; splits near misses from fabric misses",
     [](StreamFit& f) -> double& { return f.ld.far_first_waiting; }, "far-first-waiting-share"},
    {"far_first_running", "1", "the same while all hit",
     [](StreamFit& f) -> double& { return f.ld.far_first_running; }, "far-first-running-share"},
    {"coalescer_waiting", "1",
     "least squares on `all` streams by loads; requests that pass the coalescer when all SMs wait "
     "for the same misses; scales the sectors that reach L2",
     [](StreamFit& f) -> double& { return f.coalescer.waiting_share; }, "coalescer-waiting-share"},
    {"coalescer_running", "1", "the same when all hit",
     [](StreamFit& f) -> double& { return f.coalescer.running_share; }, "coalescer-running-share"},
    {"crossing", "1", "near misses of small `shift` streams; lines that change halves there",
     [](StreamFit& f) -> double& { return f.crossing; }, ""},
    {"ld_steady_skew", "MiB", "fitted; how far SMs are apart in both passes, loads",
     [](StreamFit& f) -> double& { return f.ld.steady_skew_mib; }, ""},
    {"ld_fresh_skew", "MiB", "fitted; how far SMs are apart anew in each pass, loads",
     [](StreamFit& f) -> double& { return f.ld.fresh_skew_mib; }, ""},
    {"tma_steady_skew", "MiB", "the same of bulk copies",
     [](StreamFit& f) -> double& { return f.tma.steady_skew_mib; }, ""},
    {"tma_fresh_skew", "MiB", "the same of bulk copies",
     [](StreamFit& f) -> double& { return f.tma.fresh_skew_mib; }, ""},
    {"tma_far_first_waiting", "1", "as far_first_waiting, bulk copies",
     [](StreamFit& f) -> double& { return f.tma.far_first_waiting; }, ""},
    {"tma_far_first_running", "1", "as far_first_running, bulk copies",
     [](StreamFit& f) -> double& { return f.tma.far_first_running; }, ""},
});

}  // namespace

std::vector<Figure> fit_figures(const StreamFit& fit) {
  StreamFit copy = fit;
  std::vector<Figure> figures;
  figures.push_back({"ways", double(fit.l2.ways), "1",
                     "assumed: hashed sets hide their ways; a set keeps that many lines"});
  for (const FitNumber& number : numbers) {
    figures.push_back({std::string(number.name), number.in(copy), std::string(number.unit),
                       std::string(number.how)});
  }
  return figures;
}

StreamFit fit_from_figures(const std::vector<Figure>& figures, int64_t l2_bytes, int64_t sms) {
  const auto value = [&](std::string_view name) {
    const Figure* figure = find_figure(figures, name);
    if (figure == nullptr) {
      throw std::invalid_argument("fit: no figure is called " + std::string(name));
    }
    return figure->value;
  };
  StreamFit fit;
  fit.l2.capacity_lines = l2_bytes / line_bytes / 2;
  fit.l2.ways = static_cast<int>(value("ways"));
  fit.coalescer.sms = sms;
  for (const FitNumber& number : numbers) number.in(fit) = value(number.name);
  fit.l2.far_first_waiting = fit.ld.far_first_waiting;
  fit.l2.far_first_running = fit.ld.far_first_running;
  return fit;
}

std::string fit_profile_ini(const StreamFit& fit, const std::string& from) {
  StreamFit copy = fit;
  std::ostringstream text;
  for (const FitNumber& number : numbers) {
    if (number.profile_key.empty()) continue;
    text << number.profile_key << " = " << number.in(copy) << "; measured; " << number.how << " ("
         << from << ")\n";
  }
  return text.str();
}

}  // namespace sawtooth::experiments
