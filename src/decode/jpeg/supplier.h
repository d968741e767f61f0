// Which of the three decoders has a picture: the GPU's JPEG engines, nvJPEG on its multiprocessors,
// or the CPU.
//
// A pure function of the file's facts, its record and settings fixed before the first batch. The
// three differ by a level here and there, so a choice by load would make batches irreproducible.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "decode/jpeg/marker_scan.h"

namespace yoload::decode {

enum class Supplier : uint8_t { engines, multiprocessors, cpu };

std::string_view name(Supplier supplier);

/// What this machine has.
struct SupplierSupport {
  bool engines = false;
  bool multiprocessors = false;  ///< nvJPEG on a GPU, with or without engines
};

/// Parts of the records, in thousandths, that do not go to the fastest decoder but help it. What a
/// helper cannot decode stays where it would be without shares.
struct SupplierShares {
  uint32_t cpu_permille = 0;
  uint32_t multiprocessors_permille = 0;
};

/// May the engines have this file, and do they give the CPU decoder's pixels within one level?
bool engines_take(const JpegFacts& facts);
/// The same for nvJPEG on the multiprocessors, within three levels.
bool multiprocessors_take(const JpegFacts& facts);

Supplier supplier_of(const JpegFacts& facts, uint32_t record, const SupplierShares& shares,
                     const SupplierSupport& support);

}  // namespace yoload::decode
