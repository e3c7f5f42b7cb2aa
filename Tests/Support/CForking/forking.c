#define _GNU_SOURCE

#include "CForking.h"

#include <signal.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

pid_t forking_fork(void) { return fork(); }

pid_t forking_bare_fork(void) {
#if defined(__linux__)
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#else
  return fork();
#endif
}
