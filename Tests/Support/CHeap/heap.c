#include "CHeap.h"

// The Swift runtime calls these when an error is thrown.
extern void _swift_setWillThrowHandler(void (*handler)(void *)) __attribute__((weak));
extern void *_Atomic _swift_willThrowTypedImpl __attribute__((weak));

void heap_forget_errors(void) {
  if (_swift_setWillThrowHandler) _swift_setWillThrowHandler(NULL);
  if (&_swift_willThrowTypedImpl) _swift_willThrowTypedImpl = NULL;
}

#ifdef __GLIBC__
#include <malloc.h>

void heap_unite(void) { mallopt(M_ARENA_MAX, 1); }

size_t heap_bytes(void) {
  struct mallinfo2 information = mallinfo2();
  return information.uordblks + information.hblkhd;
}
#else
void heap_unite(void) {}

size_t heap_bytes(void) { return 0; }
#endif
