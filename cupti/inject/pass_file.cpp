#include "cupti/inject/pass_file.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

namespace sawtooth::inject {
namespace {

constexpr std::string_view version_line = "sawtooth-record 1\n";

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\')
      line += "\\\\";
    else if (c == '\t')
      line += "\\t";
    else if (c == '\n')
      line += "\\n";
    else
      line += c;
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char next = line[++i];
    text += next == 't' ? '\t' : next == 'n' ? '\n' : next;
  }
  return text;
}

[[noreturn]] void malformed(std::string_view line) {
  throw std::runtime_error("no line of a recording: " + std::string(line));
}

std::string text_of(const std::string& text) {
  return escaped(text);
}
template <class Number>
std::string text_of(Number number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, +number).ptr};
}

void read(std::string_view text, std::string_view /*line*/, std::string& value) {
  value = unescaped(text);
}
template <class Number>
void read(std::string_view text, std::string_view line, Number& value) {
  decltype(+value) number{};  // of a bool an int
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) malformed(line);
  value = static_cast<Number>(number);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// Calls `take(line)` for every complete line behind the version line.
template <class Take>
void for_each_line(std::string_view text, Take take) {
  if (!text.starts_with(version_line)) malformed(text.substr(0, text.find('\n')));
  std::vector<std::string_view> lines = split(text.substr(version_line.size()), '\n');
  lines.pop_back();  // is empty, or has no end
  for (const std::string_view line : lines) take(line);
}

/// Calls `take(key, value)` for all but the metrics.
template <class Request, class Take>
void for_each_setting(Request& request, Take take) {
  take("kernel", request.kernel);
  take("nvtx", request.nvtx);
  take("skip", request.skip);
  take("count", request.count);
  take("flush", request.flush);
}

/// Calls `take(value)` for all but the values of metrics, in the order of a line.
template <class Launch, class Take>
void for_each_field(Launch& launch, Take take) {
  const auto take_all = [&](auto&... fields) { (take(fields), ...); };
  take_all(launch.index, launch.name, launch.grid, launch.block, launch.shared_bytes,
           launch.registers, launch.stream, launch.device, launch.context, launch.time_us,
           launch.status, launch.message);
}

LaunchRecord parse_launch(const std::vector<std::string_view>& fields, std::string_view line) {
  LaunchRecord launch;
  size_t next = 1;
  for_each_field(launch, [&](auto& value) {
    if (next == fields.size()) malformed(line);
    read(fields[next++], line, value);
  });
  for (; next < fields.size(); ++next) {
    const size_t equals = fields[next].rfind('=');
    if (equals == std::string_view::npos) malformed(line);
    read(fields[next].substr(equals + 1), line,
         launch.values[unescaped(fields[next].substr(0, equals))]);
  }
  return launch;
}

}  // namespace

std::string extent_text(const Extent& extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

std::string request_text(const PassRequest& request) {
  std::string text(version_line);
  const auto add = [&](std::string_view key, const auto& value) {
    text.append(key).append("\t").append(text_of(value)).append("\n");
  };
  for_each_setting(request, add);
  for (const std::string& metric : request.metrics) add("metric", metric);
  return text;
}

PassRequest parse_request(std::string_view text) {
  PassRequest request;
  for_each_line(text, [&](std::string_view line) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != 2) malformed(line);
    bool known = false;
    const auto take = [&](std::string_view key, auto& value) {
      if (key != fields[0]) return;
      read(fields[1], line, value);
      known = true;
    };
    for_each_setting(request, take);
    if (fields[0] == "metric") take("metric", request.metrics.emplace_back());
    if (!known) malformed(line);
  });
  return request;
}

std::string process_line(std::string_view command) {
  return std::string(version_line) + "process\t" + escaped(command) + "\n";
}

std::string launch_line(const LaunchRecord& launch) {
  std::string line = "launch";
  for_each_field(launch, [&](const auto& value) { line.append("\t").append(text_of(value)); });
  for (const auto& [metric, value] : launch.values)
    line.append("\t").append(escaped(metric)).append("=").append(text_of(value));
  return line + "\n";
}

std::string note_line(std::string_view note) {
  return "note\t" + escaped(note) + "\n";
}

ProcessRecord parse_process(std::string_view text) {
  ProcessRecord process;
  for_each_line(text, [&](std::string_view line) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() < 2) malformed(line);
    if (fields[0] == "process")
      process.command = unescaped(fields[1]);
    else if (fields[0] == "note")
      process.notes.push_back(unescaped(fields[1]));
    else if (fields[0] == "launch")
      process.launches.push_back(parse_launch(fields, line));
    else
      malformed(line);
  });
  return process;
}

std::vector<ProcessRecord> read_processes(const std::string& folder) {
  std::vector<ProcessRecord> processes;
  for (;;) {
    const std::string path = folder + "/process-" + std::to_string(processes.size());
    std::ifstream file(path, std::ios::binary);
    if (!file) return processes;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // A process that was killed at its very start has written nothing.
    processes.push_back(text.size() < version_line.size() ? ProcessRecord{} : parse_process(text));
  }
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);
  return name;
}

LaunchFilter::LaunchFilter(PassRequest request) : request_(std::move(request)) {
  const int error = regcomp(&expression_, request_.kernel.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) return;
  char reason[128];
  regerror(error, &expression_, reason, sizeof reason);
  throw std::invalid_argument("'" + request_.kernel + "' is no regular expression: " + reason);
}

LaunchFilter::~LaunchFilter() {
  regfree(&expression_);
}

bool LaunchFilter::matches(std::string_view symbol) {
  if (request_.kernel.empty()) return true;
  std::string key(symbol);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const bool match = regexec(&expression_, demangled(key.c_str()).c_str(), 0, nullptr, 0) == 0;
  known_.emplace(std::move(key), match);
  return match;
}

bool LaunchFilter::takes(std::string_view symbol, bool range_open) {
  ++launches_;
  if (!request_.nvtx.empty() && !range_open) return false;
  if (!matches(symbol)) return false;
  const int64_t number = matching_++;
  return number >= request_.skip &&
         (request_.count == 0 || number < request_.skip + request_.count);
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_tries{1};
constexpr off_t counters = 0, queue = 1;

struct flock lock_of(off_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// False where another process has the byte. On a file system without locks every process has it.
bool set(int file, off_t byte, short type) {
  struct flock lock = lock_of(byte, type);
  return fcntl(file, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool wait_for(int file, off_t byte, Clock::time_point end) {
  while (!set(file, byte, F_WRLCK)) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(between_tries);
  }
  return true;
}

}  // namespace

CounterLease::CounterLease(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {}

bool CounterLease::take(double seconds) const {
  if (file_ < 0) return true;
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(seconds));
  // Whoever gives the counters and wants them back stands behind those who wait.
  if (!wait_for(file_, queue, end)) return false;
  const bool taken = wait_for(file_, counters, end);
  set(file_, queue, F_UNLCK);
  return taken;
}

void CounterLease::give() const {
  if (file_ >= 0) set(file_, counters, F_UNLCK);
}

bool CounterLease::wanted() const {
  if (file_ < 0) return false;
  struct flock lock = lock_of(queue, F_WRLCK);
  return fcntl(file_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace sawtooth::inject
