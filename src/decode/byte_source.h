// Random access to the first bytes of a file or of a block in memory, for the header readers.
//
// Header facts may lie anywhere (a TIFF directory sits at the end, a large EXIF block pushes a
// JPEG's size behind it), so the readers ask by offset and one set of them serves memory and files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace yoload::decode {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Copies exactly `out.size()` bytes from `offset`; false when they are not all there.
  virtual bool read(uint64_t offset, std::span<uint8_t> out) = 0;
  virtual uint64_t size() const = 0;

  bool u8(uint64_t offset, uint32_t* value);
  bool u16(uint64_t offset, bool big_endian, uint32_t* value);
  bool u32(uint64_t offset, bool big_endian, uint32_t* value);
  bool u64(uint64_t offset, bool big_endian, uint64_t* value);
  /// Do the bytes at `offset` equal `text`?
  bool matches(uint64_t offset, std::string_view text);
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool read(uint64_t offset, std::span<uint8_t> out) override;
  uint64_t size() const override { return bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
};

/// Reads a window of 64 KB at a time; most files need exactly one. Owns the descriptor.
class FileSource final : public ByteSource {
 public:
  FileSource() = default;
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  /// 0, or the errno of the failure.
  int open(const std::string& path);
  bool read(uint64_t offset, std::span<uint8_t> out) override;
  uint64_t size() const override { return size_; }

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
  uint64_t window_start_ = 0;
  std::vector<uint8_t> window_;
};

}  // namespace yoload::decode
