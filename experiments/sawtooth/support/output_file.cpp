#include "experiments/sawtooth/support/output_file.hpp"

#include <filesystem>
#include <stdexcept>

#include <unistd.h>

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

}  // namespace

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

}  // namespace sawtooth::experiments
