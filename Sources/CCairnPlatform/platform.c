#define _GNU_SOURCE

#include "CCairnPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/types.h>
#elif defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

uintptr_t cairn_thread_token(void) {
  static _Thread_local char place;
  return (uintptr_t)&place;
}

static uint64_t unwiped_process_word;
uint64_t *cairn_process_word = &unwiped_process_word;
static uint64_t process_number;

uint64_t cairn_enter_process(void) {
  uint64_t number = __atomic_add_fetch(&process_number, 1, __ATOMIC_RELAXED), none = 0;
  return __atomic_compare_exchange_n(cairn_process_word, &none, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? number
                                                                                                               : none;
}

static void clear_process_word(void) { __atomic_store_n(cairn_process_word, 0, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void prepare_process_word(void) {
#if defined(MADV_WIPEONFORK)
  size_t length = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED && madvise(page, length, MADV_WIPEONFORK) == 0) cairn_process_word = page;
#endif
  pthread_atfork(NULL, NULL, clear_process_word);
}

void cairn_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  pthread_atfork(prepare, parent, child);
}

int cairn_reserve(int descriptor, int64_t offset, int64_t length) {
#if defined(__APPLE__)
  struct stat status;
  if (fstat(descriptor, &status) != 0) return errno;
  int64_t end = offset + length;
  if (end <= status.st_size) return 0;
  fstore_t request = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, end - status.st_size, 0};
  if (fcntl(descriptor, F_PREALLOCATE, &request) == -1) return errno;
  return ftruncate(descriptor, end) == 0 ? 0 : errno;
#else
  int result;
  do {
    result = posix_fallocate(descriptor, offset, length);
  } while (result == EINTR);
  return result;
#endif
}

int cairn_overwrites_in_place(int descriptor) {
#if defined(__linux__)
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return 0;
  return status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC || status.f_type == TMPFS_MAGIC;
#else
  (void)descriptor;
  return 0;
#endif
}

int cairn_sync_data(int descriptor) {
#if defined(__APPLE__)
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  return fsync(descriptor) == 0 ? 0 : errno;
#else
  return fdatasync(descriptor) == 0 ? 0 : errno;
#endif
}

void cairn_advise_huge(void *address, size_t length) {
#if defined(MADV_HUGEPAGE)
  madvise(address, length, MADV_HUGEPAGE);
#else
  (void)address;
  (void)length;
#endif
}

void *cairn_map_huge(size_t length) {
#if defined(MREMAP_FIXED)
  uint8_t *mapped = mmap(NULL, 2 * length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  size_t lead = -(uintptr_t)mapped & (length - 1);
  if (lead > 0) munmap(mapped, lead);
  if (lead < length) munmap(mapped + lead + length, length - lead);
  cairn_advise_huge(mapped + lead, length);
  for (size_t offset = 0; offset < length; offset += 4096) *(volatile uint8_t *)(mapped + lead + offset) = 0;
  return mapped + lead;
#else
  (void)length;
  return NULL;
#endif
}

int cairn_move_mapping(void *memory, void *target, size_t length) {
#if defined(MREMAP_FIXED)
  return mremap(memory, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED ? errno : 0;
#else
  (void)memory;
  (void)target;
  (void)length;
  return ENOSYS;
#endif
}

void cairn_error_text(int code, char *buffer, size_t capacity) {
#if defined(__GLIBC__)
  const char *text = strerror_r(code, buffer, capacity);
  if (text != buffer) snprintf(buffer, capacity, "%s", text);
#else
  if (strerror_r(code, buffer, capacity) != 0) buffer[0] = 0;
#endif
}

size_t cairn_boot_identity(char *buffer, size_t capacity) {
#if defined(__APPLE__)
  size_t length = capacity;
  if (sysctlbyname("kern.bootsessionuuid", buffer, &length, NULL, 0) != 0) return 0;
  return strnlen(buffer, length);
#else
  int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  ssize_t length = read(descriptor, buffer, capacity);
  close(descriptor);
  if (length <= 0) return 0;
  if (buffer[length - 1] == '\n') length--;
  return (size_t)length;
#endif
}
