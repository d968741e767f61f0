/* The C interface of yoload: what the Python package and other languages bind to.
 *
 * Small and stable: structures begin with their size and grow at the end, functions are only added,
 * and YOLOAD_ABI_VERSION changes when something here changes its meaning. Strings are UTF-8.
 * Functions that can fail return a status; yoload_error() then says why, for the calling thread. No
 * function throws.
 *
 * Batch memory belongs to the caller: offer buffers with yoload_offer(), get them back, filled,
 * with yoload_next(). The engine prepares as many batches ahead as it has buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef YOLOAD_YOLOAD_H_
#define YOLOAD_YOLOAD_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define YOLOAD_API __attribute__((visibility("default")))
#else
#define YOLOAD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define YOLOAD_ABI_VERSION 1

/* Status of a call. */
enum {
  YOLOAD_OK = 0,
  YOLOAD_END = 1, /* the epoch has no further batch */
  YOLOAD_BAD_ARGUMENT =
      -1, /* an option, name or value that makes no sense; the message says what would */
  YOLOAD_FAILED = -2, /* data or system: the message has path, stage and cause */
  YOLOAD_CLOSED = -3  /* the loader is closed */
};

/* Number type of yoload_batch.img. */
enum { YOLOAD_UINT8 = 0, YOLOAD_FLOAT16 = 1, YOLOAD_FLOAT32 = 2, YOLOAD_BFLOAT16 = 3 };

typedef struct yoload_options yoload_options;
typedef struct yoload_records yoload_records;
typedef struct yoload_loader yoload_loader;

/* One sample's entry in a batch. */
typedef struct yoload_sample {
  uint64_t position; /* place in the epoch's global order */
  uint32_t record;   /* picture: see yoload_path() */
  int16_t replaced;  /* 1: the planned picture could not be read, see the ledger */
  int16_t repeated;  /* 1: here so that all ranks have as many batches */
  int32_t ori_height_px, ori_width_px; /* upright size of the picture */
  int32_t resized_height_px, resized_width_px;
} yoload_sample;

/* A finished batch. Pointers other than img stay valid until yoload_batch_free(). */
typedef struct yoload_batch {
  uint32_t struct_bytes; /* in: sizeof(yoload_batch) of the caller */
  uint32_t epoch;
  uint64_t index; /* in the epoch */
  uint64_t token; /* of the offered buffer that img is */
  void* img;      /* size,channels,height,width numbers of dtype */
  int32_t size, channels, height_px, width_px;
  int32_t dtype;
  int32_t box_values;     /* 4 (x y w h) or 5 (x y w h r) a row of bboxes */
  int64_t objects;        /* n */
  const float* cls;       /* n */
  const float* bboxes;    /* n,box_values; normalised by the picture */
  const float* batch_idx; /* n */
  const float* keypoints; /* n,keypoints_per_object,3 or null */
  int32_t keypoints_per_object;
  int32_t mask_height_px, mask_width_px;
  int64_t mask_count;           /* maps in masks */
  const int32_t* masks;         /* mask_count,mask_height,mask_width or null */
  const yoload_sample* samples; /* size */
  const char* const* im_files;  /* size: paths of the pictures */
  void* owner;
} yoload_batch;

YOLOAD_API int yoload_abi_version(void);
YOLOAD_API const char* yoload_version(void);
/* Message of the last failure on this thread; "" if there was none. */
YOLOAD_API const char* yoload_error(void);
/* Its parts, "" where they do not apply: the file, the stage (dataset, decode, ...), the cause. */
YOLOAD_API const char* yoload_error_path(void);
YOLOAD_API const char* yoload_error_stage(void);
YOLOAD_API const char* yoload_error_cause(void);

/* Options by name, as text: "imgsz" "640", "mosaic" "0.5", "cache" "pixels", "classes" "0,2".
 * Unknown names and bad values are refused at once, naming the nearest right one. */
YOLOAD_API yoload_options* yoload_options_new(void);
YOLOAD_API void yoload_options_free(yoload_options* options);
YOLOAD_API int yoload_options_set(yoload_options* options, const char* name, const char* value);
/* All names, one a line with type and default. Free with yoload_free(). */
YOLOAD_API char* yoload_options_help(void);

/* Pictures and labels that the program holds, instead of the option "data". `task` as the option;
 * `box_format`: "xywhn", "xyxyn" (fractions of the picture), "xyxy", "xywh" (pixels, top left
 * corner); polygons and keypoints are in the same unit. flip_idx (kpt_count numbers) may be null.
 */
YOLOAD_API yoload_records* yoload_records_new(const char* task, const char* const* names, int nc,
                                              int channels, int kpt_count, const int* flip_idx,
                                              const char* box_format);
/* Adds a picture: the file at `path`, or `content_bytes` bytes of a picture file, which are copied.
 * Of its `objects`, boxes (n,4), polygon_counts (n) with polygon_points (sum,2), and keypoints
 * (n,K,3) may be null where the task does not need them. Columns are checked by yoload_open(). */
YOLOAD_API int yoload_records_add(yoload_records* records, const char* path, const void* contents,
                                  size_t content_bytes, size_t objects, const float* cls,
                                  const float* boxes, const uint32_t* polygon_counts,
                                  const float* polygon_points, const float* keypoints);
YOLOAD_API void yoload_records_free(yoload_records* records);
/* The options take the records as they are now, without a copy: free them afterwards, add no more.
 */
YOLOAD_API int yoload_options_set_records(yoload_options* options, const yoload_records* records);

/* Opens the data set and starts the threads. *loader is null on failure. */
YOLOAD_API int yoload_open(const yoload_options* options, yoload_loader** loader);
/* Stops the threads (within 2 s), forgets all offered buffers and frees the loader. Null is
 * allowed. */
YOLOAD_API void yoload_close(yoload_loader* loader);
/* Wakes a waiting yoload_next() of another thread, which returns YOLOAD_CLOSED. Any thread. */
YOLOAD_API void yoload_stop(yoload_loader* loader);

YOLOAD_API uint64_t yoload_images(const yoload_loader* loader);     /* an epoch of this rank */
YOLOAD_API uint64_t yoload_batches(const yoload_loader* loader);    /* an epoch */
YOLOAD_API size_t yoload_buffer_bytes(const yoload_loader* loader); /* that every batch fits in */
YOLOAD_API int yoload_prefetch(const yoload_loader* loader); /* buffers worth offering at a time */
/* Facts about the data set (task, names, nc, channels, kpt_shape, images), warnings, the report,
 * and the ledger, as JSON. Free with yoload_free(). */
YOLOAD_API char* yoload_dataset_json(const yoload_loader* loader);
YOLOAD_API char* yoload_warnings_json(const yoload_loader* loader);
YOLOAD_API char* yoload_report_json(const yoload_loader* loader);
YOLOAD_API char* yoload_ledger_json(const yoload_loader* loader);
/* The same report as a table for people. */
YOLOAD_API char* yoload_report_text(const yoload_loader* loader);
/* A picture of the data set: upright size, and its objects first_row .. first_row + rows - 1. */
typedef struct yoload_record {
  uint64_t first_row, rows;
  int32_t width_px, height_px;
} yoload_record;
/* Pictures of the data set, whatever the rank. */
YOLOAD_API uint64_t yoload_record_count(const yoload_loader* loader);
YOLOAD_API int yoload_get_record(const yoload_loader* loader, uint32_t record, yoload_record* out);
/* All objects: n,5 numbers cls, x, y, w, h, the box normalised. Valid as long as the loader. */
YOLOAD_API const float* yoload_rows(const yoload_loader* loader);
/* Path of a record, free with yoload_free(); null for a record that is not there. */
YOLOAD_API char* yoload_path(const yoload_loader* loader, uint32_t record);
YOLOAD_API void yoload_free(char* text);

/* Gives the engine a buffer of at least yoload_buffer_bytes(). It writes there until the buffer
 * comes back with a batch, or yoload_close() returns. `token` is the caller's name for it. */
YOLOAD_API int yoload_offer(yoload_loader* loader, void* memory, size_t bytes, uint64_t token);
/* GPU that batches lie on (option "device"), or -1: host memory. */
YOLOAD_API int yoload_device(const yoload_loader* loader);
/* The same for a loader on a GPU: `memory` is device memory that what `stream` (a cudaStream_t; 0
 * is the default stream) has been given so far may still use. */
YOLOAD_API int yoload_offer_on(yoload_loader* loader, void* memory, size_t bytes, uint64_t token,
                               uintptr_t stream);
/* Goes to batch `first_batch` of `epoch`; buffers on offer stay on offer. */
YOLOAD_API int yoload_set_epoch(yoload_loader* loader, uint32_t epoch, uint64_t first_batch);
/* Waits at most `timeout_ms` (negative: for ever) for the next batch. YOLOAD_OK fills *batch;
 * YOLOAD_END: the next call starts the following epoch. With a timeout, YOLOAD_OK with batch->owner
 * null means not yet. */
YOLOAD_API int yoload_next(yoload_loader* loader, yoload_batch* batch, int timeout_ms);
/* The same for a loader on a GPU: the batch may still be on its way there; what `stream` is given
 * from now on runs when it has arrived. The CPU does not wait for the GPU. */
YOLOAD_API int yoload_next_on(yoload_loader* loader, yoload_batch* batch, int timeout_ms,
                              uintptr_t stream);
/* Place in the global order of a sample of this rank. */
YOLOAD_API uint64_t yoload_position(const yoload_loader* loader, uint64_t sample);
/* One sample alone, written to `memory` (one picture's share of a batch): equal to what the stream
 * delivers. */
YOLOAD_API int yoload_render(yoload_loader* loader, uint32_t epoch, uint64_t position, void* memory,
                             size_t bytes, yoload_batch* batch);
YOLOAD_API void yoload_batch_free(yoload_batch* batch);

/* Decodes one picture into channels,height,width bytes (R, G, B for three). *pixels is freed with
 * yoload_free(); size and channels are those of the upright picture. */
YOLOAD_API int yoload_decode(const void* bytes, size_t count, int channels, char** pixels,
                             int* height_px, int* width_px);

#ifdef __cplusplus
}
#endif

#endif /* YOLOAD_YOLOAD_H_ */
