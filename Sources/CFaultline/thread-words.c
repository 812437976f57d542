#define _GNU_SOURCE

#include "CFaultline.h"

#include <link.h>

_Thread_local void *const *fl_tracking_word;

struct visitor {
    void *context;
    void (*visit)(void *context, size_t module, void *const *words, size_t word_count);
};

static int visit_module(struct dl_phdr_info *info, size_t byte_count, void *data) {
    const struct visitor *visitor = data;
    if (byte_count < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data)) return 1;
    if (info->dlpi_tls_data == NULL) return 0;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        if (info->dlpi_phdr[index].p_type != PT_TLS) continue;
        size_t word_count = info->dlpi_phdr[index].p_memsz / sizeof(void *);
        visitor->visit(visitor->context, info->dlpi_tls_modid, info->dlpi_tls_data, word_count);
    }
    return 0;
}

void fl_visit_thread_words(
    void *context, void (*visit)(void *context, size_t module, void *const *words, size_t word_count)) {
    struct visitor visitor = {context, visit};
    dl_iterate_phdr(visit_module, &visitor);
}
