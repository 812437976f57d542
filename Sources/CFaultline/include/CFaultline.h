#ifndef CFAULTLINE_H
#define CFAULTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system calls of FaultlineDisk, one function a call. Each returns the call's result, or -errno: errno is read
 * here, in the line after the call, because the Swift runtime may change it before Swift code reads it. Nothing here
 * retries: Swift code resumes after EINTR or a short transfer, and is tested there. */

/* Files. Every descriptor is opened with O_CLOEXEC. */
enum fl_access {
    FL_ACCESS_READING = 0,   /* must exist */
    FL_ACCESS_UPDATING = 1,  /* must exist; reads and writes */
    FL_ACCESS_CREATING = 2,  /* must not exist; reads and writes */
    FL_ACCESS_DIRECTORY = 3  /* a directory, to be synchronized */
};

/* A file as fl_status and fl_path_status report it. */
enum fl_file_kind { FL_KIND_REGULAR = 0, FL_KIND_DIRECTORY = 1, FL_KIND_OTHER = 2 };
typedef struct fl_file_status {
    uint64_t device;
    uint64_t inode;
    uint64_t byte_count;
    uint32_t kind; /* enum fl_file_kind */
} fl_file_status;

int fl_open(const char *path, int access);
int fl_close(int descriptor);
int64_t fl_pread(int descriptor, void *buffer, size_t byte_count, int64_t offset);
int64_t fl_pwrite(int descriptor, const void *buffer, size_t byte_count, int64_t offset);
int fl_fdatasync(int descriptor);
int fl_fsync(int descriptor);
int fl_syncfs(int descriptor);
int fl_status(int descriptor, fl_file_status *status);
int fl_path_status(const char *path, fl_file_status *status);
int fl_unlink(const char *path);
int fl_rename(const char *source, const char *target);
int fl_mkdir(const char *path);
int fl_rmdir(const char *path);

/* Starts writing dirty pages back, without waiting and without any promise of durability. */
int fl_start_writeback(int descriptor, int64_t offset, int64_t byte_count);
int fl_forget_cached_pages(int descriptor);
/* Allocates disk space; with keeps_length the file's length stays as it is. */
int fl_allocate(int descriptor, int64_t offset, int64_t byte_count, bool keeps_length);
/* Frees the space allocated behind the file's end, by setting the length to its present value. */
int fl_release_allocation(int descriptor);
/* Sets the file's length, and frees the space allocated behind it. */
int fl_cut(int descriptor, int64_t byte_count);

/* Copies inside the kernel; returns the bytes copied, 0 at the end of the source. */
int64_t fl_copy_range(int source, int64_t source_offset, int target, int64_t target_offset, size_t byte_count);
/* Makes target share source's blocks (btrfs, XFS, bcachefs). */
int fl_clone(int source, int target);

/* Open-file-description locks on one byte: they conflict between two descriptors of one process too, and closing
 * another descriptor of the same file does not drop them. -EAGAIN if another description holds the byte. */
int fl_lock(int descriptor, int64_t byte, bool exclusively);
int fl_unlock(int descriptor, int64_t byte);
/* 1 if a lock requested now would conflict with another holder's, 0 if not. */
int fl_is_locked(int descriptor, int64_t byte, bool exclusively);

/* The time when the file was created, in nanoseconds since 1970; 0 where the file system does not keep it. */
uint64_t fl_birth_nanoseconds(int descriptor);

/* The lock of the tables of open files. It is the C library's, because a fork takes it: in the child no other thread
 * holds it. */
void fl_open_files_lock(void);
void fl_open_files_unlock(void);
/* The number of forks between the process that was started as a program and this one. */
uint32_t fl_fork_count(void);

/* The magic number of the file system that holds path (statfs f_type). */
int fl_file_system_magic(const char *path, uint64_t *magic);
int fl_free_byte_count(const char *path, uint64_t *byte_count);

/* Lists a directory. fl_directory_next returns 1 and a name that lives until the next call, or 0 at the end. */
typedef struct fl_directory fl_directory;
int fl_directory_open(const char *path, fl_directory **directory);
int fl_directory_next(fl_directory *directory, const char **name);
void fl_directory_close(fl_directory *directory);

/* Nanoseconds since 1970-01-01T00:00:00Z. */
int64_t fl_wall_nanoseconds(void);

/* Waits for a sem_t until the monotonic clock shows a time; -ETIMEDOUT then. */
int fl_semaphore_wait(void *semaphore, int64_t seconds, int64_t nanoseconds);

/* CRC32C (Castagnoli), as RFC 3720 appendix B.4 has it. `seed` is the checksum of the bytes before, 0 at the start. */
uint32_t fl_crc32c(const void *bytes, size_t byte_count, uint32_t seed);

enum fl_crc32c_method {
    FL_CRC32C_TABLES = 0,      /* slicing by eight, anywhere */
    FL_CRC32C_SERIAL = 1,      /* the CRC instruction, one word after the other */
    FL_CRC32C_INTERLEAVED = 2  /* the CRC instruction, three lanes at once */
};
bool fl_crc32c_has(enum fl_crc32c_method method);
/* Must not be called with a method the machine does not have. */
uint32_t fl_crc32c_by(enum fl_crc32c_method method, const void *bytes, size_t byte_count, uint32_t seed);

/* Asks for the cache line that holds `address`; any address is allowed, even an unmapped one. */
static inline void fl_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

/* Gives the calling thread a name in the system's lists; at most 15 bytes. */
void fl_name_thread(const char *name);

/* Retains a Swift object unless its deinitialization has begun; false if it has. The object's memory must still be
 * allocated. */
bool fl_try_retain(void *object);
/* Retain or release a Swift object count times at once. */
void fl_retain_many(void *object, uint32_t count);
void fl_release_many(void *object, uint32_t count);
/* Memory of a class's instance, aligned to 8, with one reference and its stored properties uninitialized. */
void *fl_allocate_object(const void *metadata, size_t byte_count);

/* One pointer a thread, null at first. Inlined, because it is on the path of every fault. */
extern _Thread_local void *fl_pending_slot;
static inline void *fl_pending_get(void) { return fl_pending_slot; }
static inline void fl_pending_set(void *pointer) { fl_pending_slot = pointer; }

/* The word that tells the calling thread whether its reads are tracked; null until the thread has looked it up. On
 * the path of every getter. */
extern _Thread_local void *const *fl_tracking_word;
static inline void *const *fl_tracking_word_get(void) { return fl_tracking_word; }
static inline void fl_tracking_word_set(void *const *word) { fl_tracking_word = word; }

/* Calls `visit` with the thread-local memory that the calling thread has of each module: the module's number, which is
 * the same in all threads, and the memory as words. */
void fl_visit_thread_words(
    void *context, void (*visit)(void *context, size_t module, void *const *words, size_t word_count));

#endif
