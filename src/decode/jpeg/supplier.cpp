// SPDX-License-Identifier: Apache-2.0
#include "decode/jpeg/supplier.h"

#include <algorithm>

namespace yoload::decode {
namespace {

// Luma carries all the factors, chroma 1 x 1: the way every encoder writes. Other spellings of the
// same sampling (2x2 1x2 1x2 for 4:2:2) are legal and so rare that they go to the CPU.
bool has_plain_factors(const JpegFacts& facts) {
  if (facts.components == 1) return facts.component[0].h == 1 && facts.component[0].v == 1;
  return std::all_of(facts.component.begin() + 1, facts.component.begin() + facts.components,
                     [](const JpegComponent& chroma) { return chroma.h == 1 && chroma.v == 1; });
}

// What both GPU decoders may have at all. RGB, CMYK and YCCK files go to the CPU.
bool is_ordinary(const JpegFacts& facts) {
  if (!facts.regular() || facts.bits != 8 || facts.wide_quantisation) return false;
  if (facts.colour != JpegColour::ycc && facts.colour != JpegColour::gray) return false;
  // JFIF beside Adobe's "no transform": libjpeg says YCbCr, others RGB.
  if (facts.colour == JpegColour::ycc && facts.adobe_transform == 0) return false;
  if (!has_plain_factors(facts)) return false;
  // libjpeg interpolates chroma of three and more columns and repeats a narrower one.
  const int h = facts.component[0].h;
  if (h > 1 && (facts.width_px + h - 1) / h <= 2) return false;
  // 4:1:1 and 4:1:0: the engines refuse them, and libjpeg repeats their chroma, nvJPEG does not.
  const int v = facts.component[0].v;
  return h <= 2 && v <= 2;
}

// No documentation names bounds. jpeg_gpu_test decodes pictures of 1 x 1 and of the longest side.
constexpr int32_t kEnginesLeastPx = 1;
constexpr int32_t kEnginesMostPx = 16384;

// A record's place in 0..999, spread evenly whatever the records' order means: the finaliser of
// SplitMix64 (Steele, Lea, Flood 2014).
uint32_t draw_permille(uint32_t record) {
  uint64_t x = record + 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  x ^= x >> 31;
  return static_cast<uint32_t>(((x >> 32) * 1000) >> 32);
}

}  // namespace

std::string_view name(Supplier supplier) {
  constexpr std::string_view kNames[] = {"engines", "multiprocessors", "cpu"};
  return kNames[static_cast<size_t>(supplier)];
}

bool engines_take(const JpegFacts& facts) {
  const auto [least, most] = std::minmax(facts.width_px, facts.height_px);
  return is_ordinary(facts) && facts.coding == JpegCoding::baseline && facts.scans == 1 &&
         least >= kEnginesLeastPx && most <= kEnginesMostPx;
}

bool multiprocessors_take(const JpegFacts& facts) {
  // nvJPEG's hybrid decoder refuses progressive files with restart markers (seen on an H200,
  // 4:4:4).
  if (facts.coding == JpegCoding::progressive && facts.restart_interval > 0) return false;
  return is_ordinary(facts);
}

Supplier supplier_of(const JpegFacts& facts, uint32_t record, const SupplierShares& shares,
                     const SupplierSupport& support) {
  const bool multiprocessors = support.multiprocessors && multiprocessors_take(facts);
  const bool engines = support.engines && engines_take(facts);
  if (!engines && !multiprocessors) return Supplier::cpu;
  const uint32_t draw = draw_permille(record);
  if (draw < shares.cpu_permille) return Supplier::cpu;
  if (!engines) return Supplier::multiprocessors;
  const bool help = draw < shares.cpu_permille + shares.multiprocessors_permille;
  return help && multiprocessors ? Supplier::multiprocessors : Supplier::engines;
}

}  // namespace yoload::decode
