// What Swift cannot say: hardware CRC32C chosen by function attribute, prefetching, and a few
// system calls whose C declarations differ between platforms.

#ifndef CCAIRN_PLATFORM_H
#define CCAIRN_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAIRN_THREAD_SANITIZER 1
#endif
#endif

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78) of `count` bytes, continuing from `crc`.
/// `crc` is the plain running register without initial or final inversion, so that
/// `f(f(s, a), b) == f(s, a + b)`.
uint32_t cairn_crc32c(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// The same in software only, so that tests can compare the two.
uint32_t cairn_crc32c_software(uint32_t crc, const void *_Nonnull bytes, size_t count);

/// Asks for the cache line at `address`; the address need not be valid.
static inline void cairn_prefetch(const void *_Nullable address) { __builtin_prefetch(address, 0, 3); }

/// Which of the eight words of a cache line end in the bits of `wanted` that `mask` has: bit 0 for the first. Other
/// threads may write to them: each word is read as it was at some moment.
static inline uint32_t cairn_match(const void *_Nonnull line, uint32_t mask, uint32_t wanted) {
#if defined(__SSE2__) && !defined(CAIRN_THREAD_SANITIZER)
  // The low halves alone, which are what is compared.
  const float *words = (const float *)line;
  __m128i masks = _mm_set1_epi32((int)mask), all = _mm_set1_epi32((int)wanted);
  __m128i low = _mm_castps_si128(_mm_shuffle_ps(_mm_load_ps(words), _mm_load_ps(words + 4), 0x88));
  __m128i high = _mm_castps_si128(_mm_shuffle_ps(_mm_load_ps(words + 8), _mm_load_ps(words + 12), 0x88));
  low = _mm_cmpeq_epi32(_mm_and_si128(low, masks), all);
  high = _mm_cmpeq_epi32(_mm_and_si128(high, masks), all);
  __m128i both = _mm_packs_epi32(low, high);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(both, _mm_setzero_si128()));
#else
  const uint64_t *words = (const uint64_t *)line;
  uint32_t matches = 0;
  for (int index = 0; index < 8; index++) {
    uint64_t word = __atomic_load_n(words + index, __ATOMIC_RELAXED);
    matches |= (uint32_t)(((uint32_t)word & mask) == wanted) << index;
  }
  return matches;
#endif
}

/// Tells the processor that this is a loop that waits.
static inline void cairn_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// A number that differs between threads alive at the same time and costs no system call.
uintptr_t cairn_thread_token(void);

/// The word of `cairn_process`.
extern uint64_t *_Nonnull cairn_process_word;

/// Gives this process its number, unless it has one.
uint64_t cairn_enter_process(void);

/// A number that tells this process from those that it was forked from. The kernel clears the word where it is kept when it
/// makes a child, however that is made, where the kernel can (Linux); elsewhere the handler of `fork` does.
static inline uint64_t cairn_process(void) {
  uint64_t number = __atomic_load_n(cairn_process_word, __ATOMIC_RELAXED);
  return number != 0 ? number : cairn_enter_process();
}

/// Has these called around each `fork` of this process, the last in the child.
void cairn_at_fork(void (*_Nonnull prepare)(void), void (*_Nonnull parent)(void), void (*_Nonnull child)(void));

/// Reserves blocks for bytes 0..<size of the file without changing its contents, and extends its size.
/// Returns 0 or an errno value.
int cairn_reserve(int descriptor, int64_t offset, int64_t length);

/// Whether the file lies on a file system known to keep a reservation for overwriting in place, so that a store into
/// a shared mapping of reserved blocks cannot run out of space. No for the copying ones and for those not known.
int cairn_overwrites_in_place(int descriptor);

/// Makes the bytes of the file, and its size, durable. Returns 0 or an errno value.
int cairn_sync_data(int descriptor);

/// Asks the kernel to back anonymous memory with huge pages; harmless where it cannot.
void cairn_advise_huge(void *_Nonnull address, size_t length);

/// Anonymous memory of `length` bytes that begins at a multiple of it, backed by a huge page if the kernel has one, and
/// touched. NULL where there is none, or where it could not be moved.
void *_Nullable cairn_map_huge(size_t length);

/// Puts such memory in the place of what is mapped at `target`, for all threads at once. Returns 0 or an errno value.
int cairn_move_mapping(void *_Nonnull memory, void *_Nonnull target, size_t length);

/// What the system says of an errno value, as text that ends with a zero.
void cairn_error_text(int code, char *_Nonnull buffer, size_t capacity);

/// A name that changes with every start of the machine, as text; empty where there is none.
/// Returns the number of bytes written, at most `capacity`.
size_t cairn_boot_identity(char *_Nonnull buffer, size_t capacity);

#endif
