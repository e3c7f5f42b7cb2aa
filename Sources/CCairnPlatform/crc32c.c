#include "CCairnPlatform.h"

#include <string.h>

static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1u)));
    table[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; byte++)
    for (int slice = 1; slice < 8; slice++)
      table[slice][byte] = (table[slice - 1][byte] >> 8) ^ table[0][table[slice - 1][byte] & 0xFF];
}

// Slicing by eight: Kounavis and Berry, "A Systematic Approach to Building High Performance
// Software-based CRC Generators", 2005.
uint32_t cairn_crc32c_software(uint32_t crc, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  while (count >= 8) {
    uint32_t low = crc ^ ((uint32_t)next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16 | (uint32_t)next[3] << 24);
    crc = table[7][low & 0xFF] ^ table[6][(low >> 8) & 0xFF] ^ table[5][(low >> 16) & 0xFF] ^ table[4][low >> 24] ^
          table[3][next[4]] ^ table[2][next[5]] ^ table[1][next[6]] ^ table[0][next[7]];
    next += 8;
    count -= 8;
  }
  while (count--) crc = (crc >> 8) ^ table[0][(crc ^ *next++) & 0xFF];
  return crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *next, size_t count) {
  uint64_t wide = crc, words[4];
  for (; count >= 32; next += 32, count -= 32) {
    memcpy(words, next, 32);
    for (int word = 0; word < 4; word++) wide = _mm_crc32_u64(wide, words[word]);
  }
  for (; count >= 8; next += 8, count -= 8) {
    memcpy(words, next, 8);
    wide = _mm_crc32_u64(wide, words[0]);
  }
  crc = (uint32_t)wide;
  if (count & 4) {
    uint32_t word;
    memcpy(&word, next, 4);
    crc = _mm_crc32_u32(crc, word);
    next += 4;
  }
  if (count & 2) {
    uint16_t word;
    memcpy(&word, next, 2);
    crc = _mm_crc32_u16(crc, word);
    next += 2;
  }
  return count & 1 ? _mm_crc32_u8(crc, *next) : crc;
}

static int has_hardware;
__attribute__((constructor)) static void look_for_hardware(void) {
  __builtin_cpu_init();
  has_hardware = __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__)

#if defined(__APPLE__)
static int has_hardware = 1;
#else
#include <sys/auxv.h>
static int has_hardware;
__attribute__((constructor)) static void look_for_hardware(void) {
  has_hardware = (getauxval(AT_HWCAP) & (1 << 7)) != 0;
}
#endif

#include <arm_acle.h>

__attribute__((target("crc"))) static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *next, size_t count) {
  for (; count >= 8; next += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    crc = __crc32cd(crc, word);
  }
  for (; count > 0; next++, count--) crc = __crc32cb(crc, *next);
  return crc;
}

#else

enum { has_hardware = 0 };
static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *next, size_t count) {
  return cairn_crc32c_software(crc, next, count);
}

#endif

uint32_t cairn_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return has_hardware ? crc32c_hardware(crc, bytes, count) : cairn_crc32c_software(crc, bytes, count);
}
