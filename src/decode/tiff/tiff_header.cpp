// Reads the first directory of a TIFF or BigTIFF and counts the others.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

enum Tag : uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kPhotometric = 262,
  kOrientation = 274,
  kSamples = 277
};
constexpr uint32_t kPhotometricPalette = 3;
constexpr int kMaxPages = 1000;  // also ends directories that point at each other

// Sizes of the fields that differ between the two kinds.
struct Kind {
  bool big_endian;
  bool big;
  uint64_t count_bytes() const { return big ? 8 : 2; }
  uint64_t entry_bytes() const { return big ? 20 : 12; }
};

bool read_offset(ByteSource& source, const Kind& kind, uint64_t at, uint64_t* value) {
  if (kind.big) return source.u64(at, kind.big_endian, value);
  uint32_t narrow = 0;
  if (!source.u32(at, kind.big_endian, &narrow)) return false;
  *value = narrow;
  return true;
}

bool read_count(ByteSource& source, const Kind& kind, uint64_t at, uint64_t* value) {
  if (kind.big) return source.u64(at, kind.big_endian, value);
  uint32_t narrow = 0;
  if (!source.u16(at, kind.big_endian, &narrow)) return false;
  *value = narrow;
  return true;
}

// First value of a BYTE, SHORT, LONG or LONG8 entry, in place or behind its offset.
bool read_value(ByteSource& source, const Kind& kind, uint64_t entry, uint64_t* value) {
  uint32_t type = 0;
  uint64_t count = 0;
  if (!source.u16(entry + 2, kind.big_endian, &type)) return false;
  if (!read_offset(source, kind, entry + 4, &count) || count == 0) return false;
  const uint64_t size = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 0;
  const uint64_t room = kind.big ? 8 : 4;
  if (size == 0) return false;
  uint64_t at = entry + (kind.big ? 12 : 8);
  if (count > room / size && !read_offset(source, kind, at, &at)) return false;
  uint32_t narrow = 0;
  bool read = false;
  switch (size) {
    case 1:
      read = source.u8(at, &narrow);
      break;
    case 2:
      read = source.u16(at, kind.big_endian, &narrow);
      break;
    case 4:
      read = source.u32(at, kind.big_endian, &narrow);
      break;
    default:
      return source.u64(at, kind.big_endian, value);
  }
  *value = narrow;
  return read;
}

struct Directory {
  uint64_t width = 0;
  uint64_t height = 0;
  uint64_t bits = 1;
  uint64_t photometric = 0;
  uint64_t orientation = 1;
  uint64_t samples = 1;
};

bool read_directory(ByteSource& source, const Kind& kind, uint64_t start, Directory* directory) {
  uint64_t entries = 0;
  if (!read_count(source, kind, start, &entries) || entries > 65535) return false;
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = start + kind.count_bytes() + i * kind.entry_bytes();
    uint32_t tag = 0;
    if (!source.u16(entry, kind.big_endian, &tag)) return false;
    uint64_t* target = tag == kWidth         ? &directory->width
                       : tag == kHeight      ? &directory->height
                       : tag == kBits        ? &directory->bits
                       : tag == kPhotometric ? &directory->photometric
                       : tag == kOrientation ? &directory->orientation
                       : tag == kSamples     ? &directory->samples
                                             : nullptr;
    if (target != nullptr) read_value(source, kind, entry, target);
  }
  return true;
}

int count_pages(ByteSource& source, const Kind& kind, uint64_t start) {
  int pages = 0;
  while (start != 0 && pages < kMaxPages) {
    uint64_t entries = 0;
    if (!read_count(source, kind, start, &entries) || entries > 65535) break;
    ++pages;
    const uint64_t next = start + kind.count_bytes() + entries * kind.entry_bytes();
    if (!read_offset(source, kind, next, &start)) break;
  }
  return pages;
}

}  // namespace

Status read_tiff_header(ByteSource& source, ImageInfo* info) {
  const bool big_endian = source.matches(0, "MM");
  uint32_t magic = 0;
  source.u16(2, big_endian, &magic);
  const Kind kind{.big_endian = big_endian, .big = magic == 43};
  uint64_t start = 0;
  Directory directory;
  if (!read_offset(source, kind, kind.big ? 8 : 4, &start) || start >= source.size() ||
      !read_directory(source, kind, start, &directory)) {
    return fail(Code::truncated, "TIFF ends before its directory");
  }
  if (directory.width > INT32_MAX || directory.height > INT32_MAX || directory.samples > 64 ||
      directory.samples == 0 || directory.bits > 64) {
    return fail(Code::corrupt,
                fmt::format("TIFF of {} x {} pixels, {} samples of {} bits", directory.width,
                            directory.height, directory.samples, directory.bits));
  }
  info->width_px = static_cast<int32_t>(directory.width);
  info->height_px = static_cast<int32_t>(directory.height);
  info->bits = static_cast<int32_t>(directory.bits);
  info->channels =
      directory.photometric == kPhotometricPalette ? 3 : static_cast<int32_t>(directory.samples);
  if (directory.orientation >= 1 && directory.orientation <= 8) {
    info->orientation = static_cast<int32_t>(directory.orientation);
  }
  info->pages = count_pages(source, kind, start);
  return {};
}

}  // namespace yoload::decode
