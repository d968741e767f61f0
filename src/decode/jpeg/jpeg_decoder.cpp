// JPEG through libjpeg-turbo, straight into the planes of the picture.
//
// Always the accurate integer transform and interpolated chroma (the library's defaults): results
// are the same on every machine and equal to those of other loaders.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jerror.h>
#include <jpeglib.h>

#include "decode/job.h"
#include "decode/jpeg/jpeg_scale.h"
#include "decode/jpeg/jpeg_warnings.h"
#include "decode/row_kernels.h"

namespace yoload::decode {
namespace {

constexpr int kBlockRows = DCTSIZE;

// libjpeg's callbacks find their way back here through cinfo.client_data. No C++ object with a
// destructor lives in a frame that longjmp leaves: all of them are owned by the caller of run().
struct Session {
  explicit Session(Job& owner) : job(owner) {}

  Job& job;
  jpeg_decompress_struct cinfo{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  jpeg_source_mgr source{};
  std::jmp_buf jump;
  bool created = false;
  bool scan_started = false;
  bool ended_early = false;    // ran out of bytes
  bool damaged = false;        // a warning that means lost pixels
  Code refusal = Code::ok;     // set by a limit
  bool scans_missing = false;  // ended early, between two scans
  unsigned components_seen = 0;
  char damage_text[JMSG_LENGTH_MAX] = {};
  char fatal_text[JMSG_LENGTH_MAX] = {};
};

Session& session_of(j_common_ptr cinfo) {
  return *static_cast<Session*>(cinfo->client_data);
}

[[noreturn]] void on_fatal(j_common_ptr cinfo) {
  Session& session = session_of(cinfo);
  cinfo->err->format_message(cinfo, session.fatal_text);
  if (cinfo->err->msg_code == JERR_OUT_OF_MEMORY) session.refusal = Code::out_of_memory;
  if (cinfo->err->msg_code == JERR_NO_BACKING_STORE) session.refusal = Code::limit;
  std::longjmp(session.jump, 1);
}

void on_message(j_common_ptr cinfo, int level) {
  if (level >= 0) return;  // trace output
  Session& session = session_of(cinfo);
  ++cinfo->err->num_warnings;
  const JpegWarning verdict = judge_warning(session.cinfo, session.scan_started);
  if (verdict == JpegWarning::early_end) session.ended_early = true;
  if (verdict != JpegWarning::damage || session.damaged) return;
  session.damaged = true;
  cinfo->err->format_message(cinfo, session.damage_text);
  // Nothing that follows can make the picture whole again.
  if (!session.job.accepts_damage()) std::longjmp(session.jump, 1);
}

void on_output(j_common_ptr) {}  // stderr belongs to the application

// Called for every row of MCUs, also while a progressive file is read.
void on_progress(j_common_ptr cinfo) {
  Session& session = session_of(cinfo);
  const DecodeLimits& limits = session.job.options.limits;
  const auto scans = static_cast<uint32_t>(session.cinfo.input_scan_number);
  for (int i = 0; i < session.cinfo.comps_in_scan; ++i) {
    session.components_seen |= 1U << session.cinfo.cur_comp_info[i]->component_index;
  }
  if (limits.max_scans != 0 && scans > limits.max_scans) {
    session.refusal = Code::limit;
  } else if (session.job.deadline.passed()) {
    session.refusal = Code::cancelled;  // told apart from the scan limit in end_of()
  }
  if (session.refusal != Code::ok) std::longjmp(session.jump, 1);
}

void source_nothing(j_decompress_ptr) {}

// The bytes are used up: feed end markers, so that the library finishes what it has.
boolean source_fill(j_decompress_ptr cinfo) {
  static const JOCTET kEndMarker[2] = {0xFF, JPEG_EOI};
  WARNMS(cinfo, JWRN_JPEG_EOF);
  cinfo->src->next_input_byte = kEndMarker;
  cinfo->src->bytes_in_buffer = sizeof(kEndMarker);
  return TRUE;
}

void source_skip(j_decompress_ptr cinfo, long bytes) {
  if (bytes <= 0) return;
  jpeg_source_mgr& source = *cinfo->src;
  if (static_cast<size_t>(bytes) > source.bytes_in_buffer) {
    source_fill(cinfo);
    return;
  }
  source.next_input_byte += bytes;
  source.bytes_in_buffer -= static_cast<size_t>(bytes);
}

void open(Session& session) {
  jpeg_decompress_struct& cinfo = session.cinfo;
  cinfo.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = on_fatal;
  session.errors.emit_message = on_message;
  session.errors.output_message = on_output;
  cinfo.client_data = &session;
  // A fresh object for every picture costs microseconds; a reused one would lend a file without
  // tables those of the picture before it.
  jpeg_create_decompress(&cinfo);
  session.created = true;
  cinfo.client_data = &session;
  session.source.init_source = source_nothing;
  session.source.fill_input_buffer = source_fill;
  session.source.skip_input_data = source_skip;
  session.source.resync_to_restart = jpeg_resync_to_restart;
  session.source.term_source = source_nothing;
  session.source.next_input_byte = session.job.bytes.data();
  session.source.bytes_in_buffer = session.job.bytes.size();
  cinfo.src = &session.source;
  session.progress.progress_monitor = on_progress;
  cinfo.progress = &session.progress;
}

// Three components of one size: the rows can be taken before the library interleaves them.
bool is_planar_ycc(const jpeg_decompress_struct& cinfo) {
  if (cinfo.num_components != 3 || cinfo.jpeg_color_space != JCS_YCbCr) return false;
  if (cinfo.out_color_space == JCS_GRAYSCALE || cinfo.scale_denom != 1) return false;
  for (int c = 0; c < 3; ++c) {
    if (cinfo.comp_info[c].h_samp_factor != cinfo.max_h_samp_factor ||
        cinfo.comp_info[c].v_samp_factor != cinfo.max_v_samp_factor) {
      return false;
    }
  }
  // Other factors than 1 x 1 for all (legal, never seen) would need more rows at once.
  return cinfo.max_h_samp_factor == 1 && cinfo.max_v_samp_factor == 1;
}

// Stored CMYK is inverted by convention (Adobe): 255 is no ink. Rounded up, which stays within one
// level of the exact product and of OpenCV's shifted one.
void cmyk_to_rgb(uint8_t* pixels, int width_px) {
  for (int x = 0; x < width_px; ++x, pixels += 4) {
    for (int c = 0; c < 3; ++c) {
      pixels[c] = static_cast<uint8_t>((pixels[c] * pixels[3] + 254) / 255);
    }
  }
}

// Through 24 rows that stay in the L1 cache: transforming straight into the picture would write 24
// streams of 8 bytes each to memory and read them back (measured: 8 % slower).
void decode_planar(Session& session) {
  jpeg_decompress_struct& cinfo = session.cinfo;
  RowSink& sink = session.job.sink;
  const int height_px = static_cast<int>(cinfo.output_height);
  const size_t stride_bytes = (static_cast<size_t>(cinfo.output_width) + 63) / 64 * 64;
  JSAMPROW rows[3][kBlockRows];
  JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
  uint8_t* next = session.job.scratch.rows.data();
  for (auto& plane : rows) {
    for (JSAMPROW& row : plane) {
      row = next;
      next += stride_bytes;
    }
  }
  while (cinfo.output_scanline < cinfo.output_height) {
    const int first = static_cast<int>(cinfo.output_scanline);
    jpeg_read_raw_data(&cinfo, planes, kBlockRows);
    for (int i = 0; i < kBlockRows && first + i < height_px; ++i) {
      const int y = first + i;
      ycc_to_rgb(sink.width_px(), {rows[0][i], rows[1][i], rows[2][i]},
                 {sink.row(0, y), sink.row(1, y), sink.row(2, y)});
      sink.commit(y);
    }
  }
}

void decode_rows(Session& session, Pixels layout) {
  jpeg_decompress_struct& cinfo = session.cinfo;
  RowSink& sink = session.job.sink;
  // Off by four: into aligned rows libjpeg-turbo writes past the cache (movntdq), which is right
  // for whole pictures and costs 20 % here, where the row is read back at once.
  uint8_t* pixels = session.job.scratch.rows.data() + 4;
  while (cinfo.output_scanline < cinfo.output_height) {
    const int y = static_cast<int>(cinfo.output_scanline);
    JSAMPROW row = pixels;
    jpeg_read_scanlines(&cinfo, &row, 1);
    if (cinfo.out_color_space == JCS_CMYK) cmyk_to_rgb(pixels, sink.width_px());
    sink.put(y, pixels, layout);
  }
}

// Four bytes a pixel for one row, or three planes of eight rows.
size_t row_bytes(int output_width_px) {
  return (static_cast<size_t>(output_width_px) + 64) * 3 * kBlockRows;
}

// With several scans the library keeps all coefficients, 16 bits each.
size_t coefficient_bytes(j_decompress_ptr cinfo) {
  size_t bytes = 0;
  if (!jpeg_has_multiple_scans(cinfo)) return bytes;
  for (int c = 0; c < cinfo->num_components; ++c) {
    const jpeg_component_info& component = cinfo->comp_info[c];
    bytes += (static_cast<size_t>(component.width_in_blocks) + 4) *
             (static_cast<size_t>(component.height_in_blocks) + 4) * sizeof(JBLOCK);
  }
  return bytes;
}

// A file that ends between two scans decodes without any complaint: look at what the scans brought.
bool misses_scans(const jpeg_decompress_struct& cinfo, unsigned components_seen) {
  if (components_seen != (1U << cinfo.num_components) - 1) return true;
  if (cinfo.progressive_mode == 0 || cinfo.coef_bits == nullptr) return false;
  for (int c = 0; c < cinfo.num_components; ++c) {
    for (int k = 0; k < DCTSIZE2; ++k) {
      if (cinfo.coef_bits[c][k] != 0) return true;
    }
  }
  return false;
}

// Everything that may longjmp. Returns false after a jump; `status` is set by refusals of our own.
bool run(Session& session, Status* status) {
  if (setjmp(session.jump) != 0) return false;
  open(session);
  jpeg_decompress_struct& cinfo = session.cinfo;
  jpeg_read_header(&cinfo, TRUE);
  session.scan_started = true;
  Job& job = session.job;
  const bool to_gray = job.options.channels == 1;
  Pixels layout = Pixels::rgba;
  if (cinfo.jpeg_color_space == JCS_CMYK || cinfo.jpeg_color_space == JCS_YCCK) {
    cinfo.out_color_space = JCS_CMYK;
  } else if (cinfo.jpeg_color_space == JCS_GRAYSCALE ||
             (to_gray && cinfo.jpeg_color_space == JCS_YCbCr)) {
    cinfo.out_color_space = JCS_GRAYSCALE;
    layout = Pixels::gray;
  } else {
    cinfo.out_color_space = JCS_EXT_RGBX;  // four bytes a pixel are cheaper to write and to split
  }
  cinfo.dct_method = JDCT_ISLOW;
  cinfo.scale_num = 1;
  cinfo.scale_denom = static_cast<unsigned>(
      jpeg_shrink(job.out.info.width_px, job.out.info.height_px, job.min_long_side_px));
  const bool planar = is_planar_ycc(cinfo);
  cinfo.raw_data_out = planar ? TRUE : FALSE;
  jpeg_calc_output_dimensions(&cinfo);
  const int width_px = static_cast<int>(cinfo.output_width);
  *status = job.begin_picture(width_px, static_cast<int>(cinfo.output_height), to_gray ? 1 : 3,
                              jpeg_working_bytes(width_px) + coefficient_bytes(&cinfo));
  if (!status->ok()) return false;
  const size_t rows_bytes = row_bytes(width_px);
  if (job.scratch.rows.size() < rows_bytes) job.scratch.rows.resize(rows_bytes);
  if (job.options.limits.max_memory_bytes != 0) {
    cinfo.mem->max_memory_to_use = static_cast<long>(job.options.limits.max_memory_bytes);
  }
  jpeg_start_decompress(&cinfo);  // reads all scans, where there are several
  session.scans_missing = session.ended_early && jpeg_has_multiple_scans(&cinfo) &&
                          misses_scans(cinfo, session.components_seen);
  if (session.scans_missing && !job.accepts_damage()) return false;
  if (planar) {
    decode_planar(session);
  } else {
    decode_rows(session, layout);
  }
  jpeg_finish_decompress(&cinfo);
  return true;
}

Status end_of(Session& session, bool finished, Status own_refusal) {
  Job& job = session.job;
  const Code damage_code = session.ended_early ? Code::truncated : Code::corrupt;
  if (!own_refusal.ok()) return own_refusal;
  if (session.refusal == Code::cancelled) return time_refused(job.options.limits);
  if (session.refusal == Code::limit) {
    if (session.fatal_text[0] == '\0') return scans_refused(job.options.limits);
    return fail(Code::limit, fmt::format("decoding needs more than max_memory_bytes = {} MB",
                                         job.options.limits.max_memory_bytes >> 20));
  }
  if (session.refusal == Code::out_of_memory) return fail(Code::out_of_memory, session.fatal_text);
  if (!finished && session.fatal_text[0] != '\0') {
    return job.end_damaged(damage_code, session.fatal_text);
  }
  if (session.damaged) return job.end_damaged(damage_code, session.damage_text);
  if (session.scans_missing) {
    return job.end_damaged(Code::truncated, "the file ends before its last scan");
  }
  // A lone 0xFF at the end is half of a data byte or half of the end marker: nobody can tell, and a
  // cut inside the data is the likelier story.
  if (session.ended_early && job.bytes.back() == 0xFF) {
    return job.end_damaged(Code::truncated, "the file ends inside a two-byte code");
  }
  if (session.ended_early) job.warn("no end marker, although all pixels are there");
  return {};
}

}  // namespace

size_t jpeg_working_bytes(int output_width_px) {
  constexpr size_t kLibraryState = size_t{256} << 10;
  return kLibraryState + row_bytes(output_width_px);
}

Status decode_jpeg(Job& job) {
  if (job.options.channels != 1 && job.options.channels != 3) {
    return fail(Code::unsupported, fmt::format("a JPEG has no {} channels", job.options.channels));
  }
  Session session(job);
  Status own_refusal;
  bool finished = false;
  try {
    finished = run(session, &own_refusal);
  } catch (...) {  // std::bad_alloc for the picture
    if (session.created) jpeg_destroy_decompress(&session.cinfo);
    throw;
  }
  if (session.created) jpeg_destroy_decompress(&session.cinfo);
  return end_of(session, finished, std::move(own_refusal));
}

}  // namespace yoload::decode
