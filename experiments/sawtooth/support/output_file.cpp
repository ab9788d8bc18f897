#include "experiments/sawtooth/support/output_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/sawtooth/support/exit_code.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {
namespace {

namespace fs = std::filesystem;

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
  for (const std::atomic<char*>& path : paths)
    if (const char* name = path.load()) unlink(name);
  _exit(exit_interrupted);
}

// Not so when its last owner removed it between our open() and flock().
bool is_still_there(int file, const std::string& path) {
  struct stat ours = {};
  struct stat there = {};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
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

void remove_files_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A parent that ignores a signal, as nohup does, wants its children to.
    if (std::signal(signal, SIG_IGN) != SIG_IGN) std::signal(signal, remove_and_end);
  }
}

FileLock::FileLock(const std::string& path) : lock_path_(path + ".lock") {
  for (;;) {
    file_ = open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) {
      throw UsageError(path + ": cannot be written; is its folder there and writable?");
    }
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;
      close(file_);
      throw UsageError(path + ": another process is writing it; wait for its end, or choose " +
                       "another file");
    }
    if (is_still_there(file_, lock_path_)) {
      removed_.emplace(lock_path_);
      return;
    }
    close(file_);
  }
}

FileLock::~FileLock() {
  unlink(lock_path_.c_str());
  close(file_);
}

OutputPath output_path(const std::string& path) {
  if (path == "-") throw UsageError("'-': only --csv can go to standard output; give a file name");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw UsageError(path + ": is a folder; give a file name");
  if (!fs::status_known(status)) throw UsageError(path + ": " + error.message());
  if (fs::exists(status) && !fs::is_regular_file(status)) return {path, false};
  fs::path file = path;  // status() has found an end of the links
  while (fs::is_symlink(fs::symlink_status(file))) {
    if (lies_in_proc(file)) return {path, false};
    file = file.parent_path() / fs::read_symlink(file);
  }
  return {file.string(), true};
}

fs::path output_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || access(path.c_str(), W_OK) != 0)
    throw UsageError(path + ": cannot be written; is the folder above it there and writable?");
  return path;
}

OutputFile::OutputFile(const std::string& path)
    : target_(output_path(path)), temporary_(target_.path + ".tmp") {
  // Appended to where it cannot be replaced: standard output may have lines already.
  if (target_.replaceable) {
    temporary_removed_.emplace(temporary_);
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  } else {
    stream_.open(target_.path, std::ios::binary | std::ios::app);
  }
  if (!stream_) {
    throw UsageError(path + ": cannot be written; is its folder there and writable?");
  }
}

OutputFile::~OutputFile() {
  if (committed_ || !target_.replaceable) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void OutputFile::commit() {
  stream_.close();
  if (!stream_) throw std::runtime_error(target_.path + ": writing failed; is the disk full?");
  if (target_.replaceable) fs::rename(temporary_, target_.path);
  committed_ = true;
  temporary_removed_.reset();
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text;
    return;
  }
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace sawtooth::experiments
