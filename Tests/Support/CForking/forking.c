#define _GNU_SOURCE

#include "CForking.h"

#include <signal.h>
#include <unistd.h>

#if defined(__linux__)
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

// Whether a thread of this process runs, or waits for a page.
static int is_busy(const char *thread) {
  char path[64], status[512];
  snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  size_t length = fread(status, 1, sizeof status - 1, file);
  fclose(file);
  status[length] = 0;
  // The state comes after the name, which is in parentheses.
  const char *name_end = strrchr(status, ')');
  return !name_end || name_end[1] == 0 || name_end[2] == 'R' || name_end[2] == 'D';
}

// A thread at work in Swift's runtime would leave the child one of the runtime's locks, held for ever.
static void wait_until_others_sleep(void) {
  int busy = 1;
  while (busy) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return;
    busy = 0;
    struct dirent *thread;
    while ((thread = readdir(threads))) {
      long number = atol(thread->d_name);
      if (number > 0 && number != syscall(SYS_gettid)) busy |= is_busy(thread->d_name);
    }
    closedir(threads);
    if (busy) sched_yield();
  }
}
#else
static void wait_until_others_sleep(void) {}
#endif

// Lets an alarm end a child that hangs, whose thread may block all signals.
static pid_t ended_by_alarms(pid_t process) {
  if (process == 0) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    alarm(60);
  }
  return process;
}

pid_t forking_fork(void) {
  wait_until_others_sleep();
  return ended_by_alarms(fork());
}

pid_t forking_bare_fork(void) {
#if defined(__linux__)
  wait_until_others_sleep();
  return ended_by_alarms((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#else
  return forking_fork();
#endif
}
