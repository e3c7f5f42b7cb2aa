#include "CHeap.h"

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
