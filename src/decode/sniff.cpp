// Tells the format from the first bytes, and names what people often have instead of a picture.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "decode/header.h"
#include "decode/limits.h"

namespace yoload::decode {
namespace {

using namespace std::string_view_literals;

struct Signature {
  uint64_t offset;
  std::string_view bytes;
  ImageFormat format;
};

constexpr Signature kSignatures[] = {
    {0, "\xFF\xD8\xFF"sv, ImageFormat::jpeg},
    {0, "\x89PNG\r\n\x1A\n"sv, ImageFormat::png},
    {0, "II*\0"sv, ImageFormat::tiff},
    {0, "MM\0*"sv, ImageFormat::tiff},
    {0, "II+\0"sv, ImageFormat::tiff},
    {0, "MM\0+"sv, ImageFormat::tiff},
    {0, "GIF87a"sv, ImageFormat::gif},
    {0, "GIF89a"sv, ImageFormat::gif},
    {0, "BM"sv, ImageFormat::bmp},
    {0, "\x93NUMPY"sv, ImageFormat::npy},
    {0, "\0\0\0\x0CJXL \r\n\x87\n"sv, ImageFormat::jxl},
    {0, "\xFF\x0A"sv, ImageFormat::jxl},
    {0, "\0\0\0\x0CjP  \r\n\x87\n"sv, ImageFormat::jp2},
    {0, "\xFF\x4F\xFF\x51"sv, ImageFormat::jp2},
    {4, "ftypavif"sv, ImageFormat::avif},
    {4, "ftypavis"sv, ImageFormat::avif},
    {4, "ftypheic"sv, ImageFormat::heic},
    {4, "ftypheix"sv, ImageFormat::heic},
    {4, "ftyphevc"sv, ImageFormat::heic},
    {4, "ftyphevx"sv, ImageFormat::heic},
    {4, "ftypmif1"sv, ImageFormat::heic},
    {4, "ftypmsf1"sv, ImageFormat::heic},
};

// "mif1" is shared by HEIC and AVIF; the compatible brands behind it decide.
bool lists_avif_brand(ByteSource& source) {
  uint32_t box_bytes = 0;
  if (!source.u32(0, true, &box_bytes)) return false;
  for (uint64_t at = 16; at + 4 <= std::min<uint32_t>(box_bytes, 128); at += 4) {
    if (source.matches(at, "avif")) return true;
  }
  return false;
}

// Lower-case first bytes without leading white space.
std::string first_text(ByteSource& source) {
  std::array<uint8_t, 64> raw{};
  const size_t bytes = std::min<uint64_t>(raw.size(), source.size());
  if (!source.read(0, std::span(raw).first(bytes))) return {};
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    if (text.empty() && std::isspace(raw[i]) != 0) continue;
    text += static_cast<char>(std::tolower(raw[i]));
  }
  return text;
}

}  // namespace

ImageFormat sniff(ByteSource& source) {
  if (source.matches(0, "RIFF") && source.matches(8, "WEBP")) return ImageFormat::webp;
  for (const Signature& signature : kSignatures) {
    if (!source.matches(signature.offset, signature.bytes)) continue;
    const bool is_avif = signature.format == ImageFormat::heic && lists_avif_brand(source);
    return is_avif ? ImageFormat::avif : signature.format;
  }
  return ImageFormat::unknown;
}

Status not_a_picture(ByteSource& source) {
  if (source.size() == 0) return fail(Code::truncated, "the file is empty");
  if (source.matches(0, "version https://git-lfs")) {
    return fail(Code::corrupt, "a Git LFS pointer instead of the picture; run `git lfs pull`");
  }
  if (source.matches(0, "\x1F\x8B")) {
    return fail(Code::corrupt, "gzip-compressed data instead of a picture; unpack it first");
  }
  if (source.matches(0, "\x00\x05\x16\x07"sv) || source.matches(0, "\x00\x05\x16\x00"sv)) {
    return fail(Code::corrupt, "an AppleDouble companion file (\"._\" name), not a picture");
  }
  if (source.matches(0, "PK\x03\x04")) return fail(Code::corrupt, "a zip archive, not a picture");
  if (source.matches(0, "%PDF")) return fail(Code::corrupt, "a PDF document, not a picture");
  const std::string text = first_text(source);
  if (text.starts_with("<!doctype html") || text.starts_with("<html") ||
      text.starts_with("<head")) {
    return fail(Code::corrupt, "an HTML page instead of the picture: the download failed");
  }
  if (text.starts_with("<svg") || text.starts_with("<?xml")) {
    return fail(Code::unsupported, "XML or SVG, which is no pixel format");
  }
  // The start of a signature and nothing else.
  for (const Signature& signature : kSignatures) {
    if (signature.offset == 0 && source.size() < signature.bytes.size() &&
        source.matches(0, signature.bytes.substr(0, static_cast<size_t>(source.size())))) {
      return fail(Code::truncated,
                  std::string("ends inside the first bytes of a ").append(name(signature.format)));
    }
  }
  return fail(Code::corrupt, "not a picture of any known format");
}

}  // namespace yoload::decode
