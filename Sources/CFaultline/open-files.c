#define _GNU_SOURCE

#include "CFaultline.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint fork_count;

void fl_open_files_lock(void) { pthread_mutex_lock(&table); }
void fl_open_files_unlock(void) { pthread_mutex_unlock(&table); }
uint32_t fl_fork_count(void) { return atomic_load_explicit(&fork_count, memory_order_relaxed); }

/* A fork waits for the lock, so that the child finds the tables whole. Only the forking thread lives on in the child,
 * and it holds the lock. */
static void begin_child(void) {
    atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
    fl_open_files_unlock();
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(fl_open_files_lock, fl_open_files_unlock, begin_child);
}

uint64_t fl_birth_nanoseconds(int descriptor) {
    struct statx status;
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return 0;
    if ((status.stx_mask & STATX_BTIME) == 0) return 0;
    return (uint64_t)status.stx_btime.tv_sec * 1000000000u + status.stx_btime.tv_nsec;
}
