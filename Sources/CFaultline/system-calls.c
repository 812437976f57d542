#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "CFaultline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifndef FICLONE
#define FICLONE _IOW(0x94, 9, int)
#endif
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#endif

#define RESULT(call)                    \
    do {                                \
        int result = (call);            \
        return result < 0 ? -errno : result; \
    } while (0)

int fl_open(const char *path, int access) {
    /* Without O_NONBLOCK, opening a stray pipe in the store's directory would wait for ever. */
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    switch (access) {
    case FL_ACCESS_READING: flags |= O_RDONLY; break;
    case FL_ACCESS_UPDATING: flags |= O_RDWR; break;
    case FL_ACCESS_CREATING: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    case FL_ACCESS_DIRECTORY: flags |= O_RDONLY | O_DIRECTORY; break;
    default: return -EINVAL;
    }
    RESULT(open(path, flags, 0644));
}

int fl_close(int descriptor) { RESULT(close(descriptor)); }

int64_t fl_pread(int descriptor, void *buffer, size_t byte_count, int64_t offset) {
    ssize_t result = pread(descriptor, buffer, byte_count, offset);
    return result < 0 ? -errno : result;
}

int64_t fl_pwrite(int descriptor, const void *buffer, size_t byte_count, int64_t offset) {
    ssize_t result = pwrite(descriptor, buffer, byte_count, offset);
    return result < 0 ? -errno : result;
}

int fl_fdatasync(int descriptor) { RESULT(fdatasync(descriptor)); }
int fl_fsync(int descriptor) { RESULT(fsync(descriptor)); }
int fl_syncfs(int descriptor) { RESULT(syncfs(descriptor)); }

static void fill_status(const struct stat *source, fl_file_status *target) {
    target->device = (uint64_t)source->st_dev;
    target->inode = (uint64_t)source->st_ino;
    target->byte_count = source->st_size < 0 ? 0 : (uint64_t)source->st_size;
    target->kind = S_ISREG(source->st_mode)   ? FL_KIND_REGULAR
                   : S_ISDIR(source->st_mode) ? FL_KIND_DIRECTORY
                                              : FL_KIND_OTHER;
}

int fl_status(int descriptor, fl_file_status *status) {
    struct stat answer;
    if (fstat(descriptor, &answer) < 0) return -errno;
    fill_status(&answer, status);
    return 0;
}

int fl_path_status(const char *path, fl_file_status *status) {
    struct stat answer;
    if (stat(path, &answer) < 0) return -errno;
    fill_status(&answer, status);
    return 0;
}

int fl_unlink(const char *path) { RESULT(unlink(path)); }
int fl_rename(const char *source, const char *target) { RESULT(rename(source, target)); }
int fl_mkdir(const char *path) { RESULT(mkdir(path, 0755)); }
int fl_rmdir(const char *path) { RESULT(rmdir(path)); }

int fl_start_writeback(int descriptor, int64_t offset, int64_t byte_count) {
    RESULT(sync_file_range(descriptor, offset, byte_count, SYNC_FILE_RANGE_WRITE));
}

int fl_forget_cached_pages(int descriptor) {
    /* The one call here that returns its error instead of setting errno. */
    return -posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
}

int fl_allocate(int descriptor, int64_t offset, int64_t byte_count, bool keeps_length) {
    RESULT(fallocate(descriptor, keeps_length ? FALLOC_FL_KEEP_SIZE : 0, offset, byte_count));
}

int fl_release_allocation(int descriptor) {
    struct stat answer;
    if (fstat(descriptor, &answer) < 0) return -errno;
    RESULT(ftruncate(descriptor, answer.st_size));
}

int fl_cut(int descriptor, int64_t byte_count) { RESULT(ftruncate(descriptor, byte_count)); }

int64_t fl_copy_range(int source, int64_t source_offset, int target, int64_t target_offset, size_t byte_count) {
    off64_t from = source_offset, to = target_offset;
    ssize_t result = copy_file_range(source, &from, target, &to, byte_count, 0);
    return result < 0 ? -errno : result;
}

int fl_clone(int source, int target) { RESULT(ioctl(target, FICLONE, source)); }

static struct flock lock_request(short type, int64_t byte) {
    struct flock request;
    memset(&request, 0, sizeof request); /* l_pid must be 0 for these locks */
    request.l_type = type;
    request.l_whence = SEEK_SET;
    request.l_start = byte;
    request.l_len = 1;
    return request;
}

int fl_lock(int descriptor, int64_t byte, bool exclusively) {
    struct flock request = lock_request(exclusively ? F_WRLCK : F_RDLCK, byte);
    if (fcntl(descriptor, F_OFD_SETLK, &request) == 0) return 0;
    return errno == EACCES ? -EAGAIN : -errno; /* POSIX allows either for a lock that is taken */
}

int fl_unlock(int descriptor, int64_t byte) {
    struct flock request = lock_request(F_UNLCK, byte);
    RESULT(fcntl(descriptor, F_OFD_SETLK, &request));
}

int fl_is_locked(int descriptor, int64_t byte, bool exclusively) {
    struct flock request = lock_request(exclusively ? F_WRLCK : F_RDLCK, byte);
    if (fcntl(descriptor, F_OFD_GETLK, &request) < 0) return -errno;
    return request.l_type == F_UNLCK ? 0 : 1;
}

int fl_file_system_magic(const char *path, uint64_t *magic) {
    struct statfs answer;
    if (statfs(path, &answer) < 0) return -errno;
    /* f_type is signed and of the machine's word; the magics are 32 bits. */
    *magic = (uint64_t)(uint32_t)answer.f_type;
    return 0;
}

int fl_free_byte_count(const char *path, uint64_t *byte_count) {
    struct statvfs answer;
    if (statvfs(path, &answer) < 0) return -errno;
    uint64_t block = answer.f_frsize != 0 ? answer.f_frsize : answer.f_bsize;
    if (__builtin_mul_overflow(block, (uint64_t)answer.f_bavail, byte_count)) *byte_count = UINT64_MAX;
    return 0;
}

struct fl_directory {
    DIR *stream;
};

int fl_directory_open(const char *path, fl_directory **directory) {
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    fl_directory *opened = malloc(sizeof *opened);
    if (opened == NULL) {
        close(descriptor);
        return -ENOMEM;
    }
    opened->stream = fdopendir(descriptor);
    if (opened->stream == NULL) {
        int error = errno;
        close(descriptor);
        free(opened);
        return -error;
    }
    *directory = opened;
    return 0;
}

int fl_directory_next(fl_directory *directory, const char **name) {
    errno = 0; /* readdir tells its end and an error apart by errno alone */
    struct dirent *entry = readdir(directory->stream);
    if (entry == NULL) return -errno;
    *name = entry->d_name;
    return 1;
}

void fl_directory_close(fl_directory *directory) {
    closedir(directory->stream);
    free(directory);
}

int fl_semaphore_wait(void *semaphore, int64_t seconds, int64_t nanoseconds) {
    struct timespec end = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    RESULT(sem_clockwait(semaphore, CLOCK_MONOTONIC, &end));
}

int64_t fl_wall_nanoseconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) < 0) return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void fl_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
