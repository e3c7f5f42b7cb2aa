// Makes children of a process that go on running Swift, which Swift itself does not offer.

#ifndef CFORKING_H
#define CFORKING_H

#include <sys/types.h>

/// `fork`, once all other threads sleep. An alarm ends the child after a minute.
pid_t forking_fork(void);

/// The same without the handlers that are called around `fork`, where the system has a way; else `fork`.
pid_t forking_bare_fork(void);

#endif
