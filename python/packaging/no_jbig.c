/* Stands in for libjbig.so.0 in the wheel: every JBIG stream is refused. See README.md.
 * The names are those that libtiff asks for.
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

enum { kRefused = 1 };

void jbg_dec_init(void* state) {
  (void)state;
}
int jbg_dec_in(void* state, unsigned char* data, size_t length, size_t* used) {
  (void)state, (void)data, (void)length;
  if (used != NULL) *used = 0;
  return kRefused;
}
long jbg_dec_getsize(const void* state) {
  (void)state;
  return 0;
}
unsigned char* jbg_dec_getimage(const void* state, int plane) {
  (void)state, (void)plane;
  return NULL;
}
void jbg_dec_free(void* state) {
  (void)state;
}
int jbg_newlen(unsigned char* data, size_t length) {
  (void)data, (void)length;
  return kRefused;
}
const char* jbg_strerror(int code) {
  (void)code;
  return "JBIG is not in this build";
}
void jbg_enc_init(void* state, unsigned long width, unsigned long height, int planes,
                  unsigned char** bits, void (*out)(unsigned char*, size_t, void*), void* file) {
  (void)state, (void)width, (void)height, (void)planes, (void)bits, (void)out, (void)file;
}
void jbg_enc_out(void* state) {
  (void)state;
}
void jbg_enc_free(void* state) {
  (void)state;
}
