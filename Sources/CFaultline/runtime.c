#include "CFaultline.h"

/* The Swift runtime's own entry points; no header of the toolchain declares them. */
extern void *swift_tryRetain(void *object);
extern void *swift_retain_n(void *object, uint32_t count);
extern void swift_release_n(void *object, uint32_t count);
extern void *swift_allocObject(const void *metadata, size_t byte_count, size_t alignment_mask);

bool fl_try_retain(void *object) { return swift_tryRetain(object) != NULL; }

void fl_retain_many(void *object, uint32_t count) { swift_retain_n(object, count); }

void fl_release_many(void *object, uint32_t count) { swift_release_n(object, count); }

void *fl_allocate_object(const void *metadata, size_t byte_count) {
    return swift_allocObject(metadata, byte_count, 7);
}

_Thread_local void *fl_pending_slot;
