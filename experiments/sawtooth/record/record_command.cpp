#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cupti/metric_table.hpp"
#include "cupti/range_profiler.hpp"
#include "cupti/status.hpp"
#include "experiments/sawtooth/inputs/commands.hpp"
#include "experiments/sawtooth/record/record_rows.hpp"
#include "experiments/sawtooth/support/files.hpp"
#include "experiments/sawtooth/support/plain_options.hpp"
#include "experiments/sawtooth/support/resources.hpp"
#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

/// A folder that goes with this object.
class PassFolder {
 public:
  PassFolder() {
    std::string name = (fs::temp_directory_path() / "sawtooth-record-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(name + ": cannot be created; set TMPDIR to a folder with space");
    path_ = name;
  }
  ~PassFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassFolder(const PassFolder&) = delete;
  PassFolder& operator=(const PassFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t running_child = 0;

void on_signal(int signal) {
  stop_signal = signal;
  if (signal == SIGTERM && running_child > 0) kill(running_child, SIGTERM);
}

/// Takes the two signals over for its life.
class CaughtSignals {
 public:
  CaughtSignals() {
    struct sigaction action {};
    action.sa_handler = on_signal;  // without SA_RESTART
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~CaughtSignals() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::vector<std::pair<std::string, std::string>>& environment,
                         bool quiet_output, int failure) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  if (quiet_output) dup2(STDERR_FILENO, STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int error = errno;
  if (write(failure, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

/// How a command ended.
struct CommandEnd {
  int exit_code = 0;
  int signal = 0;            // that ended it; 0: none
  bool interrupted = false;  // this program was asked to stop meanwhile

  bool fine() const { return exit_code == 0 && signal == 0 && !interrupted; }
  /// "ended with signal 11".
  std::string text() const {
    if (signal != 0) return "ended with signal " + std::to_string(signal);
    if (interrupted) return "was interrupted";
    return "ended with exit code " + std::to_string(exit_code);
  }
};

/// Waits for the command. Ctrl-C reaches it as it does this program, which then waits for it too;
/// SIGTERM is passed on. `quiet_output`: what it prints goes to standard error.
/// Throws UsageError when it cannot be started.
CommandEnd execute(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   bool quiet_output) {
  const CaughtSignals caught;
  stop_signal = 0;
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork failed: ") + std::strerror(errno));
  if (child == 0) become(command, environment, quiet_output, failure[1]);
  running_child = child;
  close(failure[1]);
  int error = 0;
  ssize_t bytes;
  do bytes = read(failure[0], &error, sizeof error);
  while (bytes < 0 && errno == EINTR);
  close(failure[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  if (bytes == static_cast<ssize_t>(sizeof error))
    throw UsageError(command.front() + ": cannot be started: " + std::strerror(error));
  CommandEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.exit_code = WEXITSTATUS(status);
  end.interrupted = stop_signal != 0;
  return end;
}

}  // namespace

Recording record_command(const RecordArguments& arguments,
                         const std::vector<std::vector<std::string>>& groups,
                         const std::string& library) {
  Recording recording;
  const size_t runs = 1 + groups.size();
  for (size_t run = 0; run < runs; ++run) {
    std::cerr << "record: run " << run + 1 << " of " << runs
              << (run == 0 ? " (times)\n" : " (counters)\n");
    const PassFolder folder;
    inject::PassRequest request = arguments.launches;
    if (run > 0) request.metrics = groups[run - 1];
    std::ofstream(folder.path() + "/request") << inject::request_text(request);
    std::vector<std::pair<std::string, std::string>> environment{
        {"CUDA_INJECTION64_PATH", library}, {inject::folder_variable, folder.path()}};
    if (!request.nvtx.empty()) environment.emplace_back("NVTX_INJECTION64_PATH", library);
    const CommandEnd end = execute(arguments.command, environment, arguments.csv == "-");
    recording.passes.push_back({inject::read_processes(folder.path()), end.fine()});
    if (!end.fine())
      recording.ends.push_back("run " + std::to_string(run + 1) + " of the command " + end.text());
    recording.interrupted = end.interrupted;
    if (end.interrupted) break;
  }
  return recording;
}

RecordArguments parse_record_arguments(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const PlainOptions options =
      parse_plain_options("record", {arguments.begin(), dashes}, record_options, 0);
  RecordArguments record;
  record.launches.kernel = options.value_or("kernel", "");
  record.launches.nvtx = options.value_or("nvtx", "");
  record.launches.skip = options.count_or("skip", 0);
  record.launches.count = options.count_or("count", 0);
  record.launches.flush = options.has("flush");
  if (options.has("metrics")) record.metrics = metric_list(options.value_or("metrics", ""));
  record.csv = options.value_or("csv", "-");
  record.gpu = options.value_or("gpu", "");
  record.device = static_cast<int>(options.count_or("device", 0));
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    throw UsageError(
        "record: no command; write it behind --, as in `sawtooth record --kernel "
        "attention -- python program.py`");
  record.command.assign(dashes + 1, arguments.end());
  try {
    const inject::LaunchFilter valid(record.launches);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("--kernel: ") + error.what());
  }
  return record;
}

CounterGroups plan_groups(const RecordArguments& arguments) {
  const cupti::RangeProfiler profiler(arguments.device);
  CounterGroups planned{profiler.chip(), {}, {}};
  const auto names = [&](std::span<const cupti::L2Counter> counters) {
    return cupti::metrics_for(planned.chip, counters);
  };
  const std::vector<std::string> witnesses = names(cupti::witness_counters());
  const std::vector<std::string> metrics =
      arguments.metrics.empty() ? names(cupti::result_counters()) : arguments.metrics;
  const cupti::MetricPlan plan = profiler.plan(
      metrics, witnesses,
      arguments.metrics.empty() ? cupti::BadMetrics::drop : cupti::BadMetrics::refuse);
  for (const cupti::DroppedMetric& dropped : plan.dropped)
    std::cerr << "note: " << dropped.metric
              << " is not counted: " << cupti::status_name(dropped.status) << '\n';
  for (const cupti::MetricGroup& group : plan.groups) {
    if (group.passes() != 1)
      throw UsageError("--metrics: " + group.metrics().front() + " needs " +
                       std::to_string(group.passes()) +
                       " passes by itself; only metrics of one pass can be recorded");
    planned.groups.push_back(group.metrics());
    for (const std::string& metric : group.metrics())
      if (std::find(planned.metrics.begin(), planned.metrics.end(), metric) ==
          planned.metrics.end())
        planned.metrics.push_back(metric);
  }
  return planned;
}

std::string find_record_library() {
  if (const char* named = std::getenv("SAWTOOTH_RECORD_LIBRARY")) return named;
  std::string found = library_beside_program("libsawtooth_record.so");
  if (!found.empty()) return found;
  throw cupti::CounterError(cupti::Status::not_built, "libsawtooth_record.so is not there");
}

void refuse_other_injection() {
  if (std::getenv("CUDA_INJECTION64_PATH") != nullptr)
    throw UsageError(
        "CUDA_INJECTION64_PATH is set: another tool is in the command's way; unset it");
}

namespace {

int finish(const RecordArguments& arguments, const CounterGroups& planned,
           const Recording& recording, std::optional<OutputFile>& file) {
  for (const std::string& note : notes_of(recording.passes)) std::cerr << "note: " << note << '\n';
  for (const std::string& end : recording.ends) std::cerr << "note: " << end << '\n';
  std::vector<MergedLaunch> launches;
  try {
    launches = merge_passes(recording.passes, 1 + planned.groups.size());
  } catch (const PassMismatch& error) {
    std::cerr << "sawtooth: the command does not repeat its launches, so its counters cannot be "
                 "put together: "
              << error.what() << '\n';
    return exit_check_failed;
  }
  if (launches.empty() && !recording.interrupted) {
    std::cerr << "sawtooth: no launch of the command matched; without --kernel, --nvtx and --skip "
                 "every launch does\n";
    return exit_check_failed;
  }
  const RecordLabels labels{arguments.csv == "-" ? "record" : stem_of(arguments.csv), arguments.gpu,
                            arguments.launches.flush ? "cold" : "as-is"};
  (file ? file->stream() : std::cout)
      << record_table(launches, planned.metrics, planned.chip, labels);
  if (file) file->commit();
  if (recording.interrupted) return exit_interrupted;
  const bool all_read = std::all_of(launches.begin(), launches.end(),
                                    [](const MergedLaunch& one) { return one.status == "ok"; });
  return recording.ends.empty() && all_read ? exit_fine : exit_check_failed;
}

}  // namespace

int run_record(const Command&, const Arguments& given) {
  const RecordArguments arguments = parse_record_arguments(given);
  refuse_other_injection();
  std::optional<OutputFile> file;  // opened before the work
  opened(arguments.csv, file);
  try {
    const std::string library = find_record_library();
    const CounterGroups planned = plan_groups(arguments);
    return finish(arguments, planned, record_command(arguments, planned.groups, library), file);
  } catch (const cupti::CounterError& error) {
    const bool wrong_metric = error.status() == cupti::Status::unknown_metric ||
                              error.status() == cupti::Status::metric_not_schedulable;
    if (wrong_metric) throw UsageError(std::string("--metrics: ") + error.what());
    std::cerr << "sawtooth: " << error.what() << '\n';
    return exit_no_device;
  }
}

}  // namespace sawtooth::experiments
