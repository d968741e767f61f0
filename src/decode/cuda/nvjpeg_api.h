// The part of nvJPEG's C interface that is used here, as function pointers.
//
// The library is opened at run time and its header is not needed to build: values and layouts are
// those of its binary interface, the names are ours. Functions are named as in the library, without
// the prefix. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "core/status.h"

namespace yoload::nvjpeg {

using Handle = struct OpaqueHandle*;
using State = struct OpaqueState*;
using Stream = struct OpaqueStream*;  ///< a parsed file; nothing to do with CUDA streams
using Params = struct OpaqueParams*;
using Decoder = struct OpaqueDecoder*;
using PinnedBuffer = struct OpaquePinnedBuffer*;
using DeviceBuffer = struct OpaqueDeviceBuffer*;

enum class Code : int {
  success = 0,
  not_initialized = 1,
  invalid_parameter = 2,
  bad_jpeg = 3,
  jpeg_not_supported = 4,
  allocator_failure = 5,
  execution_failed = 6,
  arch_mismatch = 7,
  internal_error = 8,
  implementation_not_supported = 9,
  incomplete_bitstream = 10,
};

enum class Backend : int { any = 0, hybrid = 1, gpu_hybrid = 2, hardware = 3 };
enum class Output : int { y = 2, rgb = 3 };
enum class Property : int { major = 0, minor = 1, patch = 2 };

/// Chroma is interpolated, as libjpeg does it. Without this flag it is repeated.
constexpr unsigned kInterpolatedChroma = 1U << 5;

constexpr int kMostComponents = 4;

struct Planes {
  unsigned char* channel[kMostComponents];
  size_t pitch[kMostComponents];
};

/// For device memory and for page-locked memory alike. Both functions return 0 for success.
struct Allocator {
  int (*allocate)(void* context, void** pointer, size_t bytes, cudaStream_t stream);
  int (*release)(void* context, void* pointer, size_t bytes, cudaStream_t stream);
  void* context;
};

struct Api {
  Code (*GetProperty)(Property, int* value);
  Code (*CreateExV2)(Backend, Allocator* device, Allocator* pinned, unsigned flags, Handle*);
  Code (*Destroy)(Handle);
  Code (*SetDeviceMemoryPadding)(size_t bytes, Handle);
  Code (*SetPinnedMemoryPadding)(size_t bytes, Handle);
  Code (*JpegStateCreate)(Handle, State*);
  Code (*JpegStateDestroy)(State);

  Code (*DecodeBatchedInitialize)(Handle, State, int batch, int cpu_threads, Output);
  Code (*DecodeBatched)(Handle, State, const unsigned char* const* data, const size_t* lengths,
                        Planes* to, cudaStream_t);

  Code (*JpegStreamCreate)(Handle, Stream*);
  Code (*JpegStreamDestroy)(Stream);
  Code (*JpegStreamParse)(Handle, const unsigned char* data, size_t length, int save_metadata,
                          int save_stream, Stream);

  Code (*DecodeParamsCreate)(Handle, Params*);
  Code (*DecodeParamsDestroy)(Params);
  Code (*DecodeParamsSetOutputFormat)(Params, Output);

  Code (*DecoderCreate)(Handle, Backend, Decoder*);
  Code (*DecoderDestroy)(Decoder);
  Code (*DecoderStateCreate)(Handle, Decoder, State*);
  Code (*BufferPinnedCreateV2)(Handle, Allocator*, PinnedBuffer*);
  Code (*BufferPinnedDestroy)(PinnedBuffer);
  Code (*BufferDeviceCreateV2)(Handle, Allocator*, DeviceBuffer*);
  Code (*BufferDeviceDestroy)(DeviceBuffer);
  Code (*StateAttachPinnedBuffer)(State, PinnedBuffer);
  Code (*StateAttachDeviceBuffer)(State, DeviceBuffer);
  Code (*DecodeJpegHost)(Handle, Decoder, State, Params, Stream);
  Code (*DecodeJpegTransferToDevice)(Handle, Decoder, State, Stream, cudaStream_t);
  Code (*DecodeJpegDevice)(Handle, Decoder, State, Planes* to, cudaStream_t);

  // Not in every version that works here: may be null.
  Code (*GetHardwareDecoderInfo)(Handle, unsigned* engines, unsigned* cores_per_engine);
};

/// An object of the library that destroys itself.
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Code (*)(T)>;

const char* name(Code code);

/// The library's code as our status; `what` was tried.
yoload::Status status_of(Code code, const char* what);

/// Throws Error naming `what` was tried.
void check(Code code, const char* what);

}  // namespace yoload::nvjpeg
