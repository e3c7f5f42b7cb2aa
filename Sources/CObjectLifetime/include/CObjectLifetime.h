// What the runtime of Swift does behind weak references, for references that cost nothing while nobody follows them.

#ifndef COBJECT_LIFETIME_H
#define COBJECT_LIFETIME_H

/// Retains an object of Swift, unless its deinitialisation has begun: NULL then. The memory must still be the object's.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
