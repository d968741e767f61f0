// PNG through libpng: every depth and colour type, alpha dropped, gamma and profiles not applied.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <png.h>

#include <bit>
#include <cstring>
#include <memory>

#include "decode/job.h"
#include "decode/sixteen_bit.h"

namespace yoload::decode {
namespace {

// As in the JPEG decoder, nothing with a destructor lives in a frame that longjmp leaves.
struct Session {
  explicit Session(Job& owner) : job(owner) {}

  Job& job;
  png_structp png = nullptr;
  png_infop info = nullptr;
  size_t read_bytes = 0;
  bool ended_early = false;
  bool pixels_complete = false;
  bool timed_out = false;
  bool wants_crc_note = false;
  bool crc_wrong = false;
  char text[128] = {};
  std::unique_ptr<SixteenBitRows> deep;
};

Session& session_of(png_structp png) {
  return *static_cast<Session*>(png_get_error_ptr(png));
}

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  Session& session = session_of(png);
  std::strncpy(session.text, text, sizeof(session.text) - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp png, png_const_charp text) {
  Session& session = session_of(png);
  if (session.wants_crc_note && std::strstr(text, "CRC error") != nullptr) session.crc_wrong = true;
}

void on_read(png_structp png, png_bytep out, size_t bytes) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  if (bytes > session.job.bytes.size() - session.read_bytes) {
    session.ended_early = true;
    png_error(png, "the file ends too early");
  }
  std::memcpy(out, session.job.bytes.data() + session.read_bytes, bytes);
  session.read_bytes += bytes;
}

void set_up(Session& session) {
  png_structp png = session.png;
  const Job& job = session.job;
  png_set_read_fn(png, &session, on_read);
  // The size was checked against max_pixels; libpng's own default of a million pixels a side would
  // refuse line-scan pictures.
  png_set_user_limits(png, 0x7FFFFFFF, 0x7FFFFFFF);
  // Text, profiles and everything else beside the pixels is skipped, not inflated.
  constexpr png_byte kSkipped[] =
      "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0"
      "tIME\0tRNS\0zTXt";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kSkipped,
                              static_cast<int>(sizeof(kSkipped) / 5));
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_set_chunk_malloc_max(png, png_alloc_size_t{8} << 20);
  if (job.accepts_damage()) {
    session.wants_crc_note = true;
    // libpng asks for this many bytes at once and gets them or fails: small steps lose fewer rows.
    png_set_compression_buffer_size(png, 64);
    png_set_crc_action(png, PNG_CRC_WARN_USE, PNG_CRC_WARN_DISCARD);
  }
}

void deliver(Session& session, int y, const uint8_t* row, int samples) {
  if (session.deep) {
    session.deep->put(y, reinterpret_cast<const uint16_t*>(row));
  } else {
    session.job.sink.put_samples(y, row, samples);
  }
}

bool out_of_time(Session& session) {
  return session.timed_out = session.job.deadline.passed();
}

// Everything that may longjmp. Returns false after a jump or a refusal of our own.
bool run(Session& session, Status* status) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  png_structp png = session.png;
  Job& job = session.job;
  set_up(session);
  png_read_info(png, session.info);
  const int width_px = static_cast<int>(png_get_image_width(png, session.info));
  const int height_px = static_cast<int>(png_get_image_height(png, session.info));
  const bool is_16_bit = png_get_bit_depth(png, session.info) == 16;
  if (png_get_color_type(png, session.info) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (png_get_color_type(png, session.info) == PNG_COLOR_TYPE_GRAY)
    png_set_expand_gray_1_2_4_to_8(png);
  if (is_16_bit && std::endian::native == std::endian::little) png_set_swap(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, session.info);

  const int samples = png_get_channels(png, session.info);
  const size_t row_bytes = png_get_rowbytes(png, session.info);
  const bool interlaced = passes > 1;
  const size_t kept_bytes = interlaced ? row_bytes * static_cast<size_t>(height_px) : row_bytes;
  const size_t deep_bytes =
      is_16_bit ? sixteen_bit_bytes(width_px, height_px, samples, job.options.scale_16bit) : 0;
  *status = job.begin_picture(width_px, height_px, job.options.channels,
                              kept_bytes + deep_bytes + (size_t{128} << 10));
  if (!status->ok()) return false;
  if (is_16_bit) session.deep = std::make_unique<SixteenBitRows>(job, samples);

  std::vector<uint8_t>& rows = interlaced ? job.scratch.plane : job.scratch.rows;
  const size_t needed = kept_bytes + kReadPadding;
  if (rows.size() < needed) rows.resize(needed);
  if (!interlaced) {
    for (int y = 0; y < height_px; ++y) {
      png_read_row(png, rows.data(), nullptr);
      deliver(session, y, rows.data(), samples);
      if (out_of_time(session)) return false;
    }
  } else {
    std::memset(rows.data(), 0, kept_bytes);
    for (int pass = 0; pass < passes; ++pass) {
      for (int y = 0; y < height_px; ++y) {
        png_read_row(png, rows.data() + row_bytes * static_cast<size_t>(y), nullptr);
        if (out_of_time(session)) return false;
      }
    }
    for (int y = 0; y < height_px; ++y) {
      deliver(session, y, rows.data() + row_bytes * static_cast<size_t>(y), samples);
    }
  }
  session.pixels_complete = true;
  png_read_end(png, nullptr);
  return true;
}

Status end_of(Session& session, bool finished, Status own_refusal) {
  Job& job = session.job;
  if (!own_refusal.ok()) return own_refusal;
  if (session.timed_out) return time_refused(job.options.limits);
  if (session.deep) session.deep->finish();
  const Code code = session.ended_early ? Code::truncated : Code::corrupt;
  if (session.crc_wrong) return job.end_damaged(Code::corrupt, "a checksum is wrong");
  if (finished) return {};
  if (session.pixels_complete) {
    job.warn(fmt::format("all pixels are there, then: {}", session.text));
    return {};
  }
  return job.end_damaged(code, session.text);
}

}  // namespace

Status decode_png(Job& job) {
  if (job.options.channels != 1 && job.options.channels != 3) {
    return fail(Code::unsupported, fmt::format("a PNG has no {} channels", job.options.channels));
  }
  Session session(job);
  session.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, on_error, on_warning);
  if (session.png != nullptr) session.info = png_create_info_struct(session.png);
  if (session.info == nullptr) {
    png_destroy_read_struct(&session.png, nullptr, nullptr);
    return fail(Code::out_of_memory, "no memory for libpng");
  }
  Status own_refusal;
  bool finished = false;
  try {
    finished = run(session, &own_refusal);
  } catch (...) {
    png_destroy_read_struct(&session.png, &session.info, nullptr);
    throw;
  }
  png_destroy_read_struct(&session.png, &session.info, nullptr);
  return end_of(session, finished, std::move(own_refusal));
}

}  // namespace yoload::decode
