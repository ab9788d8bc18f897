// One point of a sweep with everything resolved: the keys, and the request of the simulator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sawtooth/inputs/keys.hpp"
#include "experiments/sawtooth/inputs/layers.hpp"
#include "experiments/sawtooth/inputs/profiles.hpp"
#include "experiments/sawtooth/inputs/sweep.hpp"
#include "scheduler/schedule.hpp"
#include "sim/request.hpp"

namespace sawtooth::experiments {

/// A row of profiles/judged.csv, which experiments/studies/judged.py writes: one counter over the
/// points of a list that one kernel ran on one GPU; errors are shares.
struct JudgedError {
  std::string gpu, model, kernel, points;  // "timed-halves"; forward, backward, serving or ring
  std::string kind, counter;               // a name of point_kind_names, or all
  double median = 0, ninety = 0;
};

/// How the model of a prediction was judged on its GPU.
struct Judgement {
  std::vector<JudgedError> errors;       // of this GPU, model, kernel and these points; empty: none
  std::string borrowed;                  // whose costs or kernels the prediction has instead
  std::vector<IntervalWidth> intervals;  // of the prediction's columns; empty: none is known

  /// Errors hold for the point.
  bool known() const { return borrowed.empty() && !errors.empty(); }
  /// What the column `judged` says of a point of this kind (empty: of all kinds): median and 90 %
  /// of errors, `borrowed` with whose, or none.
  std::string text(std::string_view kind = {}) const;
};

struct Point {
  Keys keys;             // resolved; what was left open has its value
  sim::Request request;  // its order's list, if any, lives in `order_list`
  std::shared_ptr<const SequenceLists> sequences;
  std::shared_ptr<const ListedMask> listed_mask;             // of the problem's mask
  std::shared_ptr<const std::vector<int32_t>> page_table;    // of the request's pages
  std::shared_ptr<const std::vector<int64_t>> tiles_before;  // of its shares
  sim::Gpu gpu;  // nameless, with l2_bytes only, when no gpu was given
  std::shared_ptr<const std::vector<WorkCoordinates>> order_list;
  /// What files say that the point uses, by their kind: "gpu", "order" ... -> a hash.
  std::map<std::string, std::string> contents;
  /// A point with a ring has one; its request is the whole problem on one GPU.
  std::optional<Ring> ring;
  /// Why the point cannot be run; then what follows from its keys is not there.
  std::string refusal;
  /// Whose costs the steps have where they are not the kernel's own, and speeds that were asked for
  /// beside those of its system: "mma-h200 step-ns=900 stages=3".
  std::string costs;
  Judgement judgement;
  bool plain_call = false;  // its kernel and its schedule are those of a call that names neither
  bool timing_chosen = false, l2_chosen = false;  // they were left to resolve()
  /// Its GPU is known, and `judged` says none. Where no model is named intervals are then the range
  /// over the models of time.
  bool unjudged = false;
  bool spans_models() const { return timing_chosen && l2_chosen && unjudged; }
  /// The predicted time is left out: its costs are another kernel's, and timing = timed is not
  /// given by name.
  bool hides_time = false;
  /// Costs of a kernel that hides latencies and of one that waits for its tiles, where those of the
  /// point's own are not known: intervals hold what both do.
  std::vector<sim::KernelCost> kernel_ends;
  std::vector<IntervalWidth> end_widths;

  /// The resolved value of `key` as rows and configurations print it; empty where it has none.
  std::string text(std::string_view key) const;
};

/// Reads each profile and system once.
class Catalog {
 public:
  /// `assignment` says where the name was written, for the message of a UsageError.
  const GpuFile& gpu(const Assignment& assignment);
  /// `name` is one of profiles/kernels, or a path; `place` says where it was written.
  const ProfileFile& kernel(const std::string& name, const std::string& place);
  /// The system behind an alias is returned for the alias; the limits of both are in `limits`.
  const SystemFile& system(const Assignment& assignment);
  /// The rows of profiles/judged.csv, for all GPUs.
  const std::vector<JudgedError>& judged_errors();

  /// Systems that were used, by name, with what their models leave out.
  const std::map<std::string, std::string>& limits() const { return limits_; }

 private:
  const SystemFile& read_system(const std::string& path);

  std::map<std::string, GpuFile> gpus_;
  std::map<std::string, ProfileFile> kernels_;
  std::map<std::string, SystemFile> systems_;
  std::map<std::string, std::string> limits_;
  std::optional<std::vector<JudgedError>> judged_errors_;
};

/// Replaces the point's order by a list that check_order() has passed.
void set_order(Point& point, std::vector<WorkCoordinates> list);

/// Resolves a point: command line and configuration (`given`) over the system's guarded sections
/// over its other keys over the defaults. Throws UsageError that names key, file and what is
/// allowed; what a combination of keys forbids is the point's refusal.
Point resolve_or_refuse(const Settings& given, Catalog& catalog);
/// Throws Refusal for that too.
Point resolve(const Settings& given, Catalog& catalog);

// An explicit work order: one item a line, "batch head q_tile [part]", each item exactly once;
// # begins a comment.

/// Throws UsageError that begins with place(i) where item i of `list` does not exist or is there
/// twice, and with place(list.size()) where items are missing.
void check_order(const std::vector<WorkCoordinates>& list, const Problem& problem,
                 const Tiling& tiling, const Schedule& schedule,
                 const std::function<std::string(size_t)>& place);

/// Throws UsageError that names the line.
std::vector<WorkCoordinates> read_order_file(const std::string& path, const Problem& problem,
                                             const Tiling& tiling, const Schedule& schedule);

}  // namespace sawtooth::experiments
