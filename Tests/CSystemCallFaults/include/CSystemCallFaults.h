#pragma once
#include <stdbool.h>

/* System calls that fail where they are told to, below all code of the product: a program that links this target has
 * the functions of the C library that CFaultline calls replaced by ones that count, fail, cut short, or pass the call
 * on. Only calls on files under the watched directory count; all others pass. */

enum fl_fault_call {
    FL_CALL_OPEN, FL_CALL_CLOSE, FL_CALL_PREAD, FL_CALL_PWRITE, FL_CALL_FDATASYNC, FL_CALL_FSYNC, FL_CALL_FSTAT,
    FL_CALL_STAT, FL_CALL_UNLINK, FL_CALL_RENAME, FL_CALL_MKDIR, FL_CALL_FCNTL, FL_CALL_READDIR,
    FL_CALL_FALLOCATE, FL_CALL_FTRUNCATE, FL_CALL_STATFS, FL_CALL_STATVFS
};

enum fl_fault_effect {
    FL_FAULT_ERROR, /* the call does nothing and fails */
    FL_FAULT_ONE_BYTE, /* a transfer moves one byte */
    FL_FAULT_HALF, /* a transfer moves half of its bytes */
    FL_FAULT_LIE /* a write moves half of its bytes and reports all of them */
};

/* Counts calls on files under this directory from now on, and takes none for open; the text is copied. */
void fl_faults_watch(const char *directory);

/* Puts a fault in store in place of the one before, and counts calls from 0 again: from the call of this index on, up
 * to `hit_count_max` calls that the effect applies to are hit. */
void fl_faults_arm(long index, enum fl_fault_effect effect, int error_number, long hit_count_max);

/* From now on every call passes; the counts stay. */
void fl_faults_disarm(void);

/* Calls since `fl_faults_arm`, hit or not. */
long fl_faults_call_count(void);

/* Calls that were hit since `fl_faults_arm`. */
long fl_faults_hit_count(void);

/* What the call of an index was, of the first 65,536 since `fl_faults_arm`; -1 beyond. */
int fl_faults_call(long index);

/* Descriptors of watched files that are open. */
int fl_faults_open_count(void);
