// The memory that a process has allocated, which Swift itself does not tell.

#ifndef CHEAP_H
#define CHEAP_H

#include <stdlib.h>

/// Gives all threads one heap from now on, since only one is counted. Call it before any other thread allocates.
void heap_unite(void);

/// Has nothing listen to thrown errors any more: the testing library keeps a backtrace for each.
void heap_forget_errors(void);

/// The bytes in use, including what malloc adds to each allocation; 0 if another allocator is in place.
size_t heap_bytes(void);

#endif
