#define _GNU_SOURCE

#include "CSystemCallFaults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DESCRIPTOR_MAX = 4096, TRACE_MAX = 65536 };

static char watched[4096];
static size_t watched_length;
static atomic_bool is_watched_descriptor[DESCRIPTOR_MAX];
static atomic_int open_count;

static atomic_bool is_armed;
static long first_index;
static enum fl_fault_effect effect;
static int error_number;
static long hit_max;
static atomic_long call_count;
static atomic_long hit_count;
static uint8_t trace[TRACE_MAX];

void fl_faults_watch(const char *directory) {
    snprintf(watched, sizeof watched, "%s", directory);
    watched_length = strlen(watched);
    for (int descriptor = 0; descriptor < DESCRIPTOR_MAX; descriptor++)
        atomic_store(&is_watched_descriptor[descriptor], false);
    atomic_store(&open_count, 0);
}

void fl_faults_arm(long index, enum fl_fault_effect new_effect, int error, long hit_count_max) {
    atomic_store(&is_armed, false);
    first_index = index;
    effect = new_effect;
    error_number = error;
    hit_max = hit_count_max;
    atomic_store(&call_count, 0);
    atomic_store(&hit_count, 0);
    atomic_store(&is_armed, true);
}

void fl_faults_disarm(void) { atomic_store(&is_armed, false); }
long fl_faults_call_count(void) { return atomic_load(&call_count); }
long fl_faults_hit_count(void) { return atomic_load(&hit_count); }
int fl_faults_open_count(void) { return atomic_load(&open_count); }

int fl_faults_call(long index) {
    return index >= 0 && index < TRACE_MAX && index < fl_faults_call_count() ? trace[index] : -1;
}

static bool is_watched_path(const char *path) {
    return watched_length > 0 && strncmp(path, watched, watched_length) == 0;
}

static bool is_watched(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTOR_MAX && atomic_load(&is_watched_descriptor[descriptor]);
}

static bool applies(enum fl_fault_call call) {
    switch (effect) {
    case FL_FAULT_ERROR:
        /* The error of a file system that cannot reserve space. */
        if (error_number == EOPNOTSUPP) return call == FL_CALL_FALLOCATE;
        /* A signal interrupts calls that may wait. */
        return error_number != EINTR || call == FL_CALL_OPEN || call == FL_CALL_PREAD || call == FL_CALL_PWRITE
               || call == FL_CALL_FDATASYNC || call == FL_CALL_FSYNC || call == FL_CALL_FALLOCATE
               || call == FL_CALL_FTRUNCATE || call == FL_CALL_STATFS || call == FL_CALL_STATVFS;
    case FL_FAULT_LIE: return call == FL_CALL_PWRITE;
    default: return call == FL_CALL_PREAD || call == FL_CALL_PWRITE;
    }
}

/* Counts a watched call, and returns whether it gets the fault. */
static bool is_hit(enum fl_fault_call call) {
    if (!atomic_load(&is_armed)) return false;
    long index = atomic_fetch_add(&call_count, 1);
    if (index < TRACE_MAX) trace[index] = (uint8_t)call;
    if (index < first_index || !applies(call)) return false;
    if (atomic_fetch_add(&hit_count, 1) < hit_max) return true;
    atomic_fetch_sub(&hit_count, 1);
    return false;
}

/* Reports the error of a call with a fault. */
static int failed(void) {
    errno = error_number;
    return -1;
}

/* The function of the C library with the same name. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PASS(name, ...)                                  \
    ({                                                   \
        static _Atomic(__typeof__(&name)) known;         \
        __typeof__(&name) next = atomic_load(&known);    \
        if (next == NULL) {                              \
            next = NEXT(name);                           \
            atomic_store(&known, next);                  \
        }                                                \
        next(__VA_ARGS__);                               \
    })

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = creates ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!is_watched_path(path)) return PASS(open64, path, flags, mode);
    if (is_hit(FL_CALL_OPEN)) return failed();
    int descriptor = PASS(open64, path, flags, mode);
    if (descriptor >= 0 && descriptor < DESCRIPTOR_MAX) {
        atomic_store(&is_watched_descriptor[descriptor], true);
        atomic_fetch_add(&open_count, 1);
    }
    return descriptor;
}

/* Stops watching a descriptor that is about to be closed. */
static void forget(int descriptor) {
    if (is_watched(descriptor)) {
        atomic_store(&is_watched_descriptor[descriptor], false);
        atomic_fetch_sub(&open_count, 1);
    }
}

int close(int descriptor) {
    if (!is_watched(descriptor)) return PASS(close, descriptor);
    bool fails = is_hit(FL_CALL_CLOSE);
    forget(descriptor);
    int result = PASS(close, descriptor);
    /* Linux closes the descriptor even if close reports an error. */
    return fails ? failed() : result;
}

int closedir(DIR *stream) {
    forget(dirfd(stream));
    return PASS(closedir, stream);
}

ssize_t pread64(int descriptor, void *buffer, size_t byte_count, off64_t offset) {
    if (is_watched(descriptor) && byte_count > 0 && is_hit(FL_CALL_PREAD)) {
        if (effect == FL_FAULT_ERROR) return failed();
        byte_count = effect == FL_FAULT_ONE_BYTE ? 1 : (byte_count + 1) / 2;
    }
    return PASS(pread64, descriptor, buffer, byte_count, offset);
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t byte_count, off64_t offset) {
    if (is_watched(descriptor) && byte_count > 0 && is_hit(FL_CALL_PWRITE)) {
        size_t whole = byte_count;
        if (effect == FL_FAULT_ERROR) return failed();
        byte_count = effect == FL_FAULT_ONE_BYTE ? 1 : (byte_count + 1) / 2;
        if (effect == FL_FAULT_LIE)
            return PASS(pwrite64, descriptor, buffer, byte_count, offset) < 0 ? -1 : (ssize_t)whole;
    }
    return PASS(pwrite64, descriptor, buffer, byte_count, offset);
}

int fdatasync(int descriptor) {
    if (is_watched(descriptor) && is_hit(FL_CALL_FDATASYNC)) return failed();
    return PASS(fdatasync, descriptor);
}

int fsync(int descriptor) {
    if (is_watched(descriptor) && is_hit(FL_CALL_FSYNC)) return failed();
    return PASS(fsync, descriptor);
}

int fstat64(int descriptor, struct stat64 *status) {
    if (is_watched(descriptor) && is_hit(FL_CALL_FSTAT)) return failed();
    return PASS(fstat64, descriptor, status);
}

int stat64(const char *path, struct stat64 *status) {
    if (is_watched_path(path) && is_hit(FL_CALL_STAT)) return failed();
    return PASS(stat64, path, status);
}

int unlink(const char *path) {
    if (is_watched_path(path) && is_hit(FL_CALL_UNLINK)) return failed();
    return PASS(unlink, path);
}

int rename(const char *source, const char *target) {
    if (is_watched_path(source) && is_hit(FL_CALL_RENAME)) return failed();
    return PASS(rename, source, target);
}

int mkdir(const char *path, mode_t mode) {
    if (is_watched_path(path) && is_hit(FL_CALL_MKDIR)) return failed();
    return PASS(mkdir, path, mode);
}

int fcntl64(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (is_watched(descriptor) && is_hit(FL_CALL_FCNTL)) return failed();
    return PASS(fcntl64, descriptor, command, argument);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t byte_count) {
    if (is_watched(descriptor) && is_hit(FL_CALL_FALLOCATE)) return failed();
    return PASS(fallocate64, descriptor, mode, offset, byte_count);
}

int ftruncate64(int descriptor, off64_t byte_count) {
    if (is_watched(descriptor) && is_hit(FL_CALL_FTRUNCATE)) return failed();
    return PASS(ftruncate64, descriptor, byte_count);
}

int statfs64(const char *path, struct statfs64 *status) {
    if (is_watched_path(path) && is_hit(FL_CALL_STATFS)) return failed();
    return PASS(statfs64, path, status);
}

int statvfs64(const char *path, struct statvfs64 *status) {
    if (is_watched_path(path) && is_hit(FL_CALL_STATVFS)) return failed();
    return PASS(statvfs64, path, status);
}

struct dirent64 *readdir64(DIR *stream) {
    if (is_watched(dirfd(stream)) && is_hit(FL_CALL_READDIR)) {
        errno = error_number;
        return NULL;
    }
    return PASS(readdir64, stream);
}
