#include "experiments/output_file.hpp"

#include <filesystem>
#include <stdexcept>

#include "experiments/usage_error.hpp"

namespace sawtooth::experiments {

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)),
      temporary_(path_ + ".tmp"),
      stream_(temporary_, std::ios::binary | std::ios::trunc) {
  if (!stream_ || std::filesystem::is_directory(path_)) {
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    throw UsageError(path_ + ": cannot be written; is its folder there and writable?");
  }
}

OutputFile::~OutputFile() {
  if (committed_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::commit() {
  stream_.close();
  if (!stream_) throw std::runtime_error(path_ + ": writing failed; is the disk full?");
  std::filesystem::rename(temporary_, path_);
  committed_ = true;
}

}  // namespace sawtooth::experiments
