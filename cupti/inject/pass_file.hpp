// What the program `sawtooth record` and the library that it injects say to each other, as lines of
// text in one folder a pass: `request` goes in, a file `process-N` a process of the command comes
// out, N in the order in which processes start CUDA. A line is written whole when its launch is
// done, so that what a crash or Ctrl-C leaves can be read.
// Knows neither CUDA nor CUPTI.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <regex.h>

namespace sawtooth::inject {

/// Names the folder of the pass to the injected library.
inline constexpr const char* folder_variable = "SAWTOOTH_RECORD_FOLDER";

/// Which launches one run of the command counts, and how.
struct PassRequest {
  std::string kernel = {};  // POSIX extended regular expression, searched in the name; empty: all
  std::string nvtx = {};    // name of an NVTX range that must be open; empty: none need be
  int64_t skip = 0;         // of the matching launches of a process
  int64_t count = 0;        // after these; 0: all
  bool flush = false;       // L2 is filled with other lines before each matching launch
  std::vector<std::string> metrics = {};  // of one replay pass; empty: launches are timed instead

  bool operator==(const PassRequest&) const = default;
};

/// "8x4x1", as grids and blocks are printed.
using Extent = std::array<unsigned, 3>;
std::string extent_text(const Extent& extent);

/// A matching launch as one pass saw it.
struct LaunchRecord {
  int64_t index = 0;  // among all launches of its process, from 0
  std::string name;   // demangled; "graph" for the launch of a CUDA graph
  std::string grid;   // empty for a graph, as is block
  std::string block;
  int64_t shared_bytes = -1;  // a CTA, static and dynamic; -1: not known, as below
  int64_t registers = -1;     // a thread
  int64_t stream = 0;         // 0: the default stream; else by order of appearance
  int64_t device = 0;
  int64_t context = 0;        // by order of appearance
  double time_us = 0;         // 0: not timed
  std::string status = "ok";  // names of cupti/status.hpp
  std::string message = {};
  std::map<std::string, double> values = {};  // metric -> value

  bool operator==(const LaunchRecord&) const = default;
};

struct ProcessRecord {
  std::string command;  // its arguments, with blanks between them
  std::vector<LaunchRecord> launches;
  std::vector<std::string> notes;  // for the user, once each
};

std::string request_text(const PassRequest& request);
/// Throws std::runtime_error for text of another version or shape.
PassRequest parse_request(std::string_view text);

// The lines of a process file.
std::string process_line(std::string_view command);  // the first
std::string launch_line(const LaunchRecord& launch);
std::string note_line(std::string_view note);

/// A last line without its end, as a killed process leaves it, is left out. Throws
/// std::runtime_error otherwise for what is no process file.
ProcessRecord parse_process(std::string_view text);

/// Processes 0, 1, 2 ... of a folder.
std::vector<ProcessRecord> read_processes(const std::string& folder);

// Which launches of a process are counted: by kernel name and open NVTX range, then by number.
// Knows neither CUDA nor CUPTI.

/// The name as it stands in the source, "void ns::kernel<int>(float*)"; `symbol` itself where it is
/// not mangled, as Triton's names are.
std::string demangled(const char* symbol);

/// Not thread-safe: launches are put into one order by the caller.
class LaunchFilter {
 public:
  /// Throws std::invalid_argument, with the reason, for what is no regular expression.
  explicit LaunchFilter(PassRequest request);
  ~LaunchFilter();
  LaunchFilter(const LaunchFilter&) = delete;
  LaunchFilter& operator=(const LaunchFilter&) = delete;

  /// To be asked once for every launch in order: whether this one is counted. `range_open` says
  /// whether the request's NVTX range is.
  bool takes(std::string_view symbol, bool range_open);

  /// Launches asked for so far.
  int64_t launches() const { return launches_; }
  const PassRequest& request() const { return request_; }

 private:
  bool matches(std::string_view symbol);

  PassRequest request_;
  regex_t expression_{};
  std::unordered_map<std::string, bool> known_;  // by symbol: demangling takes long
  int64_t launches_ = 0;
  int64_t matching_ = 0;
};

// Which process of a recorded command counts on a GPU: an object of the range profiler that is kept
// between launches holds the GPU's counters, and another process that wants them must get them.
//
// Record locks on a file of the pass's folder: byte 0 is the counters, byte 1 the first place in
// the queue for them. The kernel takes back the locks of a process that ends, however it ends.
// Source: POSIX, fcntl, "F_SETLK". Knows neither CUDA nor CUPTI.

class CounterLease {
 public:
  /// `path` names the GPU; the file is created. Where that fails, take() always succeeds.
  explicit CounterLease(const std::string& path);
  CounterLease(const CounterLease&) = delete;
  CounterLease& operator=(const CounterLease&) = delete;

  /// Waits at most `seconds` until no other process has the counters. Whether it has them now.
  bool take(double seconds) const;
  void give() const;
  /// Whether another process waits for them. From any thread.
  bool wanted() const;

 private:
  int file_ = -1;  // never closed: that would give up the process's locks
};

// NVTX ranges that are open, seen by being the library that NVTX loads (NVTX_INJECTION64_PATH), so
// that --nvtx needs no CUPTI. Ranges of all domains are taken alike. Names in wide characters are
// not read.
// Source: nvtx3/nvtxDetail/nvtxInit.h, "InitializeInjectionNvtx2".

/// Whether a range of this name is open: pushed on this thread, or started on any.
bool nvtx_range_open(const std::string& name);

}  // namespace sawtooth::inject
