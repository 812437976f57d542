#pragma once
#include <stdbool.h>

/* Injects faults into system calls, below all code of the product. In a program that links this target, the functions
 * of the C library that CFaultline calls are replaced by functions that count the calls, and that fail, shorten or
 * forward them. Only calls on files under the watched directory count. All others are forwarded. */

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

/* Counts calls on files under this directory from now on, and assumes that none of them is open. Copies the path. */
void fl_faults_watch(const char *directory);

/* Replaces the fault, and counts calls from 0 again. From the call with this index on, the fault affects up to
 * `hit_count_max` calls that its effect applies to. */
void fl_faults_arm(long index, enum fl_fault_effect effect, int error_number, long hit_count_max);

/* Forwards every call from now on. The counts stay. */
void fl_faults_disarm(void);

/* The number of calls since `fl_faults_arm`, with or without a fault. */
long fl_faults_call_count(void);

/* The number of calls with a fault since `fl_faults_arm`. */
long fl_faults_hit_count(void);

/* The kind of the call with this index since `fl_faults_arm`, or -1 from index 65,536 on. */
int fl_faults_call(long index);

/* The number of open descriptors of watched files. */
int fl_faults_open_count(void);
