#include "experiments/sawtooth/support/output_file.hpp"

#include <filesystem>
#include <stdexcept>

#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

void require_replaceable(const std::string& path) {
  if (path == "-") throw UsageError("'-': only --csv can go to standard output; give a file name");
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UsageError(path + ": is no ordinary file, so it cannot be replaced; give a file name");
  }
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".tmp") {
  require_replaceable(path_);
  stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) {
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
