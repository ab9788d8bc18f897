#include "experiments/sawtooth/support/files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/sawtooth/support/text.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

// Only this program makes such names: what has one was left by a killed run, and may go.
constexpr const char* temporary_ending = ".sawtooth-tmp";

// A link in /proc is an open file of a process, whatever its text says.
bool lies_in_proc(const fs::path& path) {
  std::error_code ignored;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  return fs::canonical(folder, ignored).string().starts_with("/proc/");
}

// A command opens fewer; what finds no slot is left behind by a signal, and harmless.
constexpr size_t slots = 32;
// Read by the handler, where nothing may be allocated or locked.
std::array<std::atomic<char*>, slots> paths;

void remove_and_end(int) {
  remove_temporary_files();
  _exit(exit_interrupted);
}

// Regular files that this process reads, and outputs that it has open; both without links.
struct FilesInUse {
  std::mutex mutex;
  std::set<std::string> inputs, outputs;
};
FilesInUse& files_in_use() {
  static FilesInUse files;
  return files;
}

bool is_same(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_one_file(const std::string& a, const std::string& b) {
  struct stat one = {}, other = {};
  return a == b ||
         (stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && is_same(one, other));
}

// Whether this open file still is the one at `path`.
bool stands(int file, const std::string& path) {
  struct stat ours = {}, there = {};
  return fstat(file, &ours) == 0 && lstat(path.c_str(), &there) == 0 && is_same(ours, there);
}

// Whether `file` is the output, or one that is made beside it.
bool belongs_to(const std::string& output, const std::string& file) {
  return std::ranges::any_of(
      std::array<std::string, 4>{"", ".partial", temporary_ending,
                                 std::string(".partial") + temporary_ending},
      [&](const std::string& ending) { return is_one_file(output + ending, file); });
}

void claim(const std::string& shown, const std::string& output) {
  FilesInUse& files = files_in_use();
  const std::lock_guard guard(files.mutex);
  for (const std::string& input : files.inputs)
    if (belongs_to(output, input))
      throw UsageError(shown + ": is read as well; choose another file to write");
  for (const std::string& other : files.outputs)
    if (belongs_to(output, other) || belongs_to(other, output))
      throw UsageError(shown +
                       ": another output is written there or beside it; choose another file");
  files.outputs.insert(output);
}

[[noreturn]] void refuse_to_write(const std::string& path) {
  const std::string why = errno == ENAMETOOLONG ? "its name is too long for a file beside it"
                                                : "is its folder there and writable?";
  throw UsageError(path + ": cannot be written; " + why);
}

// Not a link, a pipe or a folder; opening waits for nothing.
int open_regular(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && (errno == ENOENT || errno == ENAMETOOLONG)) return file;
  struct stat found = {};
  if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) return file;
  if (file >= 0) close(file);
  throw UsageError(path + ": is in the way, and no file that an earlier run left; remove it");
}

// Makes `temporary` anew and locks it. What is there and not locked was left by a killed process.
int locked_temporary(const std::string& path, const std::string& temporary, mode_t mode) {
  for (;;) {
    int file = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    const bool is_new = file >= 0;
    if (!is_new && errno != EEXIST) refuse_to_write(path);
    if (!is_new && (file = open_regular(temporary)) < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(file);
      throw UsageError(path + ": another process is writing it; wait for its end, or choose " +
                       "another file");
    }
    // Not so when its last owner renamed or removed it between our open() and flock().
    const bool there = stands(file, temporary);
    if (there && is_new) return file;
    const bool stays = there && unlink(temporary.c_str()) != 0;
    close(file);
    if (stays) refuse_to_write(path);
  }
}

}  // namespace

RemovedOnSignal::RemovedOnSignal(const std::string& path) : slot_(slots) {
  char* name = strdup(path.c_str());
  for (size_t slot = 0; slot < slots; ++slot) {
    char* empty = nullptr;
    if (!paths[slot].compare_exchange_strong(empty, name)) continue;
    slot_ = slot;
    return;
  }
  std::free(name);
}

RemovedOnSignal::~RemovedOnSignal() {
  if (slot_ < slots) std::free(paths[slot_].exchange(nullptr));
}

void open_standard_streams() {
  // Standard output that was closed still cannot be written. open() takes the lowest free number.
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

void remove_temporary_files() {
  for (const std::atomic<char*>& path : paths)
    if (const char* name = path.load()) unlink(name);
}

void remove_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A parent that ignores a signal, as nohup does, wants its children to.
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, remove_and_end);
  }
}

std::string without_links(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path), error);
  return error ? path : whole.string();
}

OutputPath output_path(const std::string& path) {
  if (path == "-") throw UsageError("'-': only --csv can go to standard output; give a file name");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw UsageError(path + ": is a folder; give a file name");
  if (!fs::status_known(status)) throw UsageError(path + ": " + error.message());
  if (fs::exists(status) && !fs::is_regular_file(status)) return {path};
  fs::path file = path;  // status() has found an end of the links
  while (fs::is_symlink(fs::symlink_status(file))) {
    if (lies_in_proc(file)) return {path};
    file = file.parent_path() / fs::read_symlink(file);
  }
  struct stat there = {};
  if (lstat(file.c_str(), &there) != 0) return {file.string(), true};
  if (there.st_nlink > 1)
    throw UsageError(path +
                     ": has other hard links, which would keep the old contents; remove it, "
                     "or choose another file");
  return {file.string(), true, there};
}

void note_input(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return;
  const std::string input = without_links(path);
  FilesInUse& files = files_in_use();
  const std::lock_guard guard(files.mutex);
  for (const std::string& output : files.outputs)
    if (belongs_to(output, input))
      throw UsageError(path + ": is written as well; choose another file to write");
  files.inputs.insert(input);
}

std::ifstream left_behind(const std::string& path) {
  const int file = open_regular(path);
  if (file < 0) return {};
  std::ifstream stream("/proc/self/fd/" + std::to_string(file), std::ios::binary);
  close(file);
  stream.exceptions(std::ios::badbit);
  return stream;
}

OutputFile::OutputFile(OutputPath target) : target_(std::move(target)) {}

OutputFile::OutputFile(const std::string& path) : OutputFile(output_path(path)) {
  if (target_.replaceable) {
    target_.path = without_links(target_.path);
    claim(path, target_.path);
    is_claimed_ = true;
  }
  open(path);
}

OutputFile::OutputFile(const OutputFile& of, std::string_view ending) : OutputFile(of.target_) {
  target_.path += ending;
  open(target_.path);
}

void OutputFile::open(const std::string& name) {
  if (!target_.replaceable) {
    // Appended to: standard output may have lines already.
    stream_.open(target_.path, std::ios::binary | std::ios::app);
  } else {
    constexpr mode_t own = 0600, usual = 0666;  // the latter less what umask() takes
    temporary_ = target_.path + temporary_ending;
    lock_ = locked_temporary(name, temporary_, target_.there ? own : usual);
    temporary_removed_.emplace(temporary_);
    // By the file itself: what has its name meanwhile may be another one.
    stream_.open("/proc/self/fd/" + std::to_string(lock_), std::ios::binary | std::ios::app);
    if (const auto& there = target_.there) {
      // What root replaces stays its owner's; others may not give files away, and own theirs.
      [[maybe_unused]] const int given = fchown(lock_, there->st_uid, there->st_gid);
      fchmod(lock_, there->st_mode & 07777);
    }
  }
  if (!stream_) refuse_to_write(name);
}

OutputFile::~OutputFile() {
  if (temporary_removed_) unlink(temporary_.c_str());
  if (lock_ >= 0) close(lock_);
  const std::lock_guard guard(files_in_use().mutex);
  if (is_claimed_) files_in_use().outputs.erase(target_.path);
}

void OutputFile::commit(bool stays_open) {
  if (stays_open)
    stream_.flush();
  else
    stream_.close();
  if (!stream_) throw std::runtime_error(target_.path + ": writing failed; is the disk full?");
  if (!target_.replaceable) return;
  temporary_removed_.reset();  // where it cannot be renamed, it stays
  std::error_code error;
  fs::rename(temporary_, target_.path, error);
  if (error)
    throw std::runtime_error(target_.path + ": cannot be replaced (" + error.message() +
                             "); all of it is in " + temporary_);
}

void OutputFile::remove() {
  if (stands(lock_, target_.path)) unlink(target_.path.c_str());
}

OutputFolder::OutputFolder(const std::string& path, const std::vector<std::string>& names) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || access(path.c_str(), W_OK) != 0)
    throw UsageError(path + ": cannot be written; is the folder above it there and writable?");
  for (const std::string& name : names) files_.try_emplace(name, (fs::path(path) / name).string());
}

void OutputFolder::write(const std::string& name, const std::string& text) {
  files_.at(name).write(text);
  files_.at(name).commit();
}

std::ostream& opened(const std::string& path, std::optional<OutputFile>& file) {
  return path == "-" ? std::cout : file.emplace(path).stream();
}

// Files that are read.

std::ifstream open_input(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UsageError(path + ": is a folder; a file is needed");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(path + ": cannot be read");
  note_input(path);
  return stream;
}

std::string read_text_file(const std::string& path, TextLimit limit) {
  std::ifstream stream = open_input(path);
  // In pieces: a device has no size, and may have no end.
  constexpr size_t first_piece = size_t{1} << 12, largest_piece = size_t{1} << 16;
  std::string text;
  for (size_t piece = first_piece; stream; piece = std::min(2 * piece, largest_piece)) {
    const size_t before = text.size();
    text.resize(before + piece);
    stream.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<size_t>(stream.gcount()));
    if (const auto most = static_cast<uint64_t>(limit); text.size() > most)
      throw UsageError(path + ": has more than " + std::to_string(most) +
                       " bytes, it is none of our files");
  }
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

void for_each_line(const std::string& path,
                   const std::function<void(const std::string& text, int line)>& take) {
  std::istringstream lines(read_text_file(path, TextLimit::list));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    if (const std::string text(trimmed(line.substr(0, line.find('#')))); !text.empty())
      take(text, number);
}

std::vector<int64_t> numbers_in(const std::string& text, int64_t bound, const std::string& place,
                                const std::string& no_number) {
  constexpr size_t most_digits = 12;
  std::vector<int64_t> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool digits = word.find_first_not_of("0123456789") == std::string::npos;
    if (digits && word.size() <= most_digits) numbers.push_back(std::stoll(word));
    if (!digits || word.size() > most_digits || numbers.back() >= bound)
      throw UsageError(place + ": '" + word + "' is " + no_number);
  }
  return numbers;
}

}  // namespace sawtooth::experiments
