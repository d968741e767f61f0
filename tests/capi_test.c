/* The C interface from C: a stranger's view of it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "yoload/yoload.h"

static int failures = 0;
#define EXPECT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      printf("%s:%d: %s is false (%s)\n", __FILE__, __LINE__, #condition, yoload_error()); \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

static yoload_loader* open_set(const char* data, const char* cache, const char* workers) {
  yoload_options* options = yoload_options_new();
  EXPECT(yoload_options_set(options, "data", data) == YOLOAD_OK);
  EXPECT(yoload_options_set(options, "cache_dir", cache) == YOLOAD_OK);
  EXPECT(yoload_options_set(options, "imgsz", "128") == YOLOAD_OK);
  EXPECT(yoload_options_set(options, "batch_size", "8") == YOLOAD_OK);
  EXPECT(yoload_options_set(options, "workers", workers) == YOLOAD_OK);
  yoload_loader* loader = NULL;
  EXPECT(yoload_open(options, &loader) == YOLOAD_OK);
  yoload_options_free(options);
  return loader;
}

/* Sum over an epoch's pixels and boxes, in batch order. */
static unsigned long long epoch_sum(yoload_loader* loader, void** buffers, int count, uint32_t epoch) {
  unsigned long long sum = 0, images = 0;
  yoload_batch batch;
  memset(&batch, 0, sizeof batch);
  batch.struct_bytes = sizeof batch;
  EXPECT(yoload_set_epoch(loader, epoch, 0) == YOLOAD_OK);
  int status;
  while ((status = yoload_next(loader, &batch, -1)) == YOLOAD_OK) {
    EXPECT(batch.epoch == epoch);
    EXPECT(batch.token < (uint64_t)count && batch.img == buffers[batch.token]);
    const unsigned char* img = batch.img;
    const size_t bytes = (size_t)batch.size * (size_t)batch.channels * (size_t)batch.height_px * (size_t)batch.width_px;
    for (size_t i = 0; i < bytes; ++i) sum = sum * 31 + img[i];
    for (int64_t i = 0; i < batch.objects * batch.box_values; ++i) sum = sum * 31 + (unsigned)(batch.bboxes[i] * 1e6F);
    images += (unsigned long long)batch.size;
    yoload_batch_free(&batch);
    EXPECT(yoload_offer(loader, buffers[batch.token], yoload_buffer_bytes(loader), batch.token) == YOLOAD_OK);
  }
  EXPECT(status == YOLOAD_END);
  EXPECT(images == yoload_images(loader));
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  EXPECT(yoload_abi_version() == YOLOAD_ABI_VERSION);
  EXPECT(strlen(yoload_version()) > 0);

  yoload_options* options = yoload_options_new();
  EXPECT(yoload_options_set(options, "imgsize", "640") == YOLOAD_BAD_ARGUMENT);
  EXPECT(strstr(yoload_error(), "imgsz") != NULL);
  EXPECT(yoload_options_set(options, "imgsz", "big") == YOLOAD_BAD_ARGUMENT);
  EXPECT(yoload_options_set(options, "cache", "disk") == YOLOAD_BAD_ARGUMENT);
  EXPECT(strstr(yoload_error(), "pixels") != NULL);
  EXPECT(yoload_options_set(options, "data", "no/such.yaml") == YOLOAD_OK);
  yoload_loader* none = NULL;
  EXPECT(yoload_open(options, &none) == YOLOAD_FAILED && none == NULL);
  EXPECT(strstr(yoload_error(), "no/such.yaml") != NULL);
  yoload_options_free(options);

  unsigned long long sums[2];
  const char* workers[2] = {"1", "3"};
  for (int round = 0; round < 2; ++round) {
    yoload_loader* loader = open_set(argv[1], argv[2], workers[round]);
    if (loader == NULL) return 1;
    const int count = yoload_prefetch(loader) + 1;
    void** buffers = malloc((size_t)count * sizeof *buffers);
    for (int i = 0; i < count; ++i) {
      buffers[i] = malloc(yoload_buffer_bytes(loader));
      EXPECT(yoload_offer(loader, buffers[i], yoload_buffer_bytes(loader), (uint64_t)i) == YOLOAD_OK);
    }
    EXPECT(yoload_offer(loader, buffers[0], 5, 9) == YOLOAD_BAD_ARGUMENT);
    epoch_sum(loader, buffers, count, 3);
    sums[round] = epoch_sum(loader, buffers, count, 1);
    EXPECT(sums[round] == epoch_sum(loader, buffers, count, 1)); /* again */

    char* json = yoload_report_json(loader);
    EXPECT(json != NULL && strstr(json, "\"verdict\"") != NULL);
    yoload_free(json);
    json = yoload_dataset_json(loader);
    EXPECT(json != NULL && strstr(json, "\"names\"") != NULL);
    yoload_free(json);
    char* path = yoload_path(loader, 0);
    EXPECT(path != NULL && strstr(path, ".jpg") != NULL);
    yoload_free(path);
    EXPECT(yoload_path(loader, 1u << 30) == NULL);

    yoload_batch one;
    memset(&one, 0, sizeof one);
    EXPECT(yoload_next(loader, &one, 0) == YOLOAD_BAD_ARGUMENT); /* struct_bytes not set */
    one.struct_bytes = sizeof one;
    void* memory = malloc(3 * 128 * 128);
    EXPECT(yoload_render(loader, 0, 5, memory, 3 * 128 * 128, &one) == YOLOAD_OK);
    EXPECT(one.size == 1 && one.img == memory);
    yoload_batch_free(&one);
    EXPECT(yoload_render(loader, 0, 1u << 30, memory, 3 * 128 * 128, &one) == YOLOAD_BAD_ARGUMENT);
    free(memory);

    yoload_stop(loader);
    EXPECT(yoload_next(loader, &one, -1) == YOLOAD_CLOSED);
    yoload_close(loader);
    for (int i = 0; i < count; ++i) free(buffers[i]);
    free(buffers);
  }
  EXPECT(sums[0] == sums[1]);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
