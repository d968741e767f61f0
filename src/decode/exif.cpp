// SPDX-License-Identifier: Apache-2.0
#include "decode/exif.h"

namespace yoload::decode {
namespace {

constexpr uint32_t kTagOrientation = 274;
constexpr uint32_t kTypeShort = 3;
constexpr uint32_t kTypeLong = 4;
constexpr uint32_t kEntryBytes = 12;

}  // namespace

int exif_orientation(ByteSource& source, uint64_t start, uint64_t bytes) {
  constexpr int kUpright = 1;
  if (bytes < 8) return kUpright;
  bool big_endian = false;
  if (source.matches(start, "MM")) {
    big_endian = true;
  } else if (!source.matches(start, "II")) {
    return kUpright;
  }
  uint32_t magic = 0;
  uint32_t directory = 0;
  uint32_t entries = 0;
  if (!source.u16(start + 2, big_endian, &magic) || magic != 42) return kUpright;
  if (!source.u32(start + 4, big_endian, &directory)) return kUpright;
  if (directory < 8 || uint64_t{directory} + 2 > bytes) return kUpright;
  if (!source.u16(start + directory, big_endian, &entries)) return kUpright;

  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t entry = uint64_t{directory} + 2 + uint64_t{i} * kEntryBytes;
    if (entry + kEntryBytes > bytes) return kUpright;
    uint32_t tag = 0;
    uint32_t type = 0;
    uint32_t count = 0;
    uint32_t value = 0;
    if (!source.u16(start + entry, big_endian, &tag)) return kUpright;
    if (tag != kTagOrientation) continue;
    if (!source.u16(start + entry + 2, big_endian, &type) ||
        !source.u32(start + entry + 4, big_endian, &count) || count != 1) {
      return kUpright;
    }
    // The standard says SHORT; some cameras write LONG.
    const bool read = type == kTypeShort  ? source.u16(start + entry + 8, big_endian, &value)
                      : type == kTypeLong ? source.u32(start + entry + 8, big_endian, &value)
                                          : false;
    return read && value >= 1 && value <= 8 ? static_cast<int>(value) : kUpright;
  }
  return kUpright;
}

}  // namespace yoload::decode
