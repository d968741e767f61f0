// SPDX-License-Identifier: Apache-2.0
#include "yoload/image_files.h"

// jpeglib.h needs FILE and size_t declared before it.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
#include <png.h>

#include <cerrno>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace yoload::cli {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& cause) {
  throw std::runtime_error(path + ": cannot write: " + cause);
}

/// The bytes go through memory, so that a full disk is seen as one failed write.
void write_file(const std::string& path, const uint8_t* bytes, size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail(path, std::strerror(errno));
  const bool written = std::fwrite(bytes, 1, size, file) == size;
  const int error = errno;
  if (std::fclose(file) != 0 || !written) fail(path, std::strerror(written ? errno : error));
}

struct JpegError {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

struct FreeMalloc {
  void operator()(unsigned char* p) const { std::free(p); }
};

}  // namespace

void write_png(const RgbImage& image, const std::string& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width_px);
  header.height = static_cast<png_uint_32>(image.height_px);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<uint8_t> bytes(size);
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) ==
      0) {
    fail(path, header.message);
  }
  write_file(path, bytes.data(), size);
}

void write_jpeg(const RgbImage& image, int quality, const std::string& path) {
  JpegError error;
  jpeg_compress_struct encoder{};
  encoder.err = jpeg_std_error(&error.manager);
  error.manager.error_exit = [](j_common_ptr info) {
    auto* raised = reinterpret_cast<JpegError*>(info->err);
    info->err->format_message(info, raised->message);
    std::longjmp(raised->jump, 1);
  };
  unsigned char* encoded = nullptr;
  unsigned long encoded_bytes = 0;
  if (setjmp(error.jump) != 0) {
    jpeg_destroy_compress(&encoder);
    fail(path, error.message);
  }
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &encoded, &encoded_bytes);
  encoder.image_width = static_cast<JDIMENSION>(image.width_px);
  encoder.image_height = static_cast<JDIMENSION>(image.height_px);
  encoder.input_components = 3;
  encoder.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    auto* row = const_cast<JSAMPLE*>(
        reinterpret_cast<const JSAMPLE*>(&image.at(0, static_cast<int>(encoder.next_scanline))));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const std::unique_ptr<unsigned char, FreeMalloc> owner(encoded);
  write_file(path, encoded, encoded_bytes);
}

}  // namespace yoload::cli
