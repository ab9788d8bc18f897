#include <array>
#include <streambuf>
#include <vector>

#include <zstd.h>

#include "sim/trace/trace.hpp"
#if defined(SAWTOOTH_HAVE_ZLIB)
#include <zlib.h>
#endif

namespace sawtooth::sim {
namespace {

constexpr size_t block_bytes = size_t{1} << 16;

/// Decoded blocks as a stream buffer, without seeking.
class DecodedBuffer : public std::streambuf {
 public:
  DecodedBuffer(std::istream& in, std::string name)
      : name_(std::move(name)), in_(in), coded_(block_bytes), decoded_(block_bytes) {}

 protected:
  /// Decodes from [begin, end) of coded bytes into `out`; returns the bytes written and moves
  /// `begin` on.
  virtual size_t decode(const char*& begin, const char* end, char* out, size_t room) = 0;
  /// Whether the coded bytes may end here.
  virtual bool at_end() const = 0;

  int_type underflow() override {
    size_t written = 0;
    while (written == 0) {
      if (at_ == end_) {
        in_.read(coded_.data(), static_cast<std::streamsize>(coded_.size()));
        at_ = coded_.data();
        end_ = at_ + in_.gcount();
        if (at_ == end_) {
          if (!at_end()) fail("the compressed file ends early");
          return traits_type::eof();
        }
      }
      written = decode(at_, end_, decoded_.data(), decoded_.size());
    }
    setg(decoded_.data(), decoded_.data(), decoded_.data() + written);
    return traits_type::to_int_type(decoded_.front());
  }

  [[noreturn]] void fail(const std::string& what) const { throw TraceError(name_ + ": " + what); }

 private:
  std::string name_;
  std::istream& in_;
  std::vector<char> coded_, decoded_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

class ZstdBuffer : public DecodedBuffer {
 public:
  ZstdBuffer(std::istream& in, std::string name)
      : DecodedBuffer(in, std::move(name)), stream_(ZSTD_createDStream()) {}
  ~ZstdBuffer() override { ZSTD_freeDStream(stream_); }

 protected:
  size_t decode(const char*& begin, const char* end, char* out, size_t room) override {
    ZSTD_inBuffer coded{begin, static_cast<size_t>(end - begin), 0};
    ZSTD_outBuffer decoded{out, room, 0};
    left_ = ZSTD_decompressStream(stream_, &decoded, &coded);
    if (ZSTD_isError(left_) != 0) fail(std::string("zstd: ") + ZSTD_getErrorName(left_));
    begin += coded.pos;
    return decoded.pos;
  }
  bool at_end() const override { return left_ == 0; }

 private:
  ZSTD_DStream* stream_;
  size_t left_ = 0;
};

#if defined(SAWTOOTH_HAVE_ZLIB)
class GzipBuffer : public DecodedBuffer {
 public:
  GzipBuffer(std::istream& in, std::string name) : DecodedBuffer(in, std::move(name)) {
    constexpr int gzip_alone = 15 + 16;  // window bits, and the gzip wrapper (zlib.h)
    inflateInit2(&stream_, gzip_alone);
  }
  ~GzipBuffer() override { inflateEnd(&stream_); }

 protected:
  size_t decode(const char*& begin, const char* end, char* out, size_t room) override {
    if (ended_) {  // gzip files may be joined
      inflateReset(&stream_);
      ended_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(begin));
    stream_.avail_in = static_cast<uInt>(end - begin);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      fail(std::string("gzip: ") + (stream_.msg != nullptr ? stream_.msg : "damaged"));
    ended_ = result == Z_STREAM_END;
    begin = reinterpret_cast<const char*>(stream_.next_in);
    return room - stream_.avail_out;
  }
  bool at_end() const override { return ended_; }

 private:
  z_stream stream_{};
  bool ended_ = false;
};
#endif

/// A stream that owns its buffer. Errors of the buffer come through.
class DecodedStream : public std::istream {
 public:
  explicit DecodedStream(std::unique_ptr<std::streambuf> buffer)
      : std::istream(buffer.get()), buffer_(std::move(buffer)) {
    exceptions(std::ios::badbit);
  }

 private:
  std::unique_ptr<std::streambuf> buffer_;
};

}  // namespace

std::unique_ptr<std::istream> decompressed(std::istream& in, const std::string& name) {
  constexpr std::array<unsigned char, 4> zstd_magic{0x28, 0xb5, 0x2f, 0xfd};  // RFC 8878, 3.1.1
  constexpr std::array<unsigned char, 2> gzip_magic{0x1f, 0x8b};              // RFC 1952, 2.3.1
  std::array<char, 4> first{};
  in.read(first.data(), first.size());
  const auto read = in.gcount();
  in.clear();
  in.seekg(-read, std::ios::cur);
  const auto begins = [&](const auto& magic) {
    for (size_t i = 0; i < magic.size(); ++i)
      if (static_cast<unsigned char>(first[i]) != magic[i]) return false;
    return true;
  };
  if (begins(zstd_magic))
    return std::make_unique<DecodedStream>(std::make_unique<ZstdBuffer>(in, name));
  if (!begins(gzip_magic)) return nullptr;
#if defined(SAWTOOTH_HAVE_ZLIB)
  return std::make_unique<DecodedStream>(std::make_unique<GzipBuffer>(in, name));
#else
  throw TraceError(name + ": is compressed with gzip, but this program was built without zlib");
#endif
}

}  // namespace sawtooth::sim
