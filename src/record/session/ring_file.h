/* SPDX-License-Identifier: MIT
 *
 * The reader's side of a ring file (schema/recording.h). Its program can write anything into it,
 * and cut it short: every number is copied once and checked, and a page that is gone ends the
 * reading of that file, and nothing else.
 */
#ifndef WEFT_RECORD_SESSION_RING_FILE_H
#define WEFT_RECORD_SESSION_RING_FILE_H

#include "base/error.h"
#include "record/session/output.h"
#include "record/session/proc.h"
#include "record/session/trigger.h"

#include <stdbool.h>
#include <stdint.h>

/* What is known of a slot. */
struct ring_slot {
    uint64_t tail;        /* units read */
    uint64_t ticks;       /* of the last record read; 0: not known */
    uint64_t start_ticks; /* of the thread whose units are read; 0: of no thread yet */
    uint64_t n_lost_told; /* records counted by LOST ones, of all its threads */
    uint32_t tid;         /* as the thread says */
    uint32_t known_tid;   /* as it is called here */
    struct trigger_thread trigger;
};

struct ring_file {
    char name[64]; /* in the folder */
    int fd;
    uint32_t pid, parent, library, n_slots, n_units;
    uint32_t pid_namespace;
    bool is_elsewhere; /* its pids and tids are of another namespace */
    uint64_t data_off, start_ticks, functions_off;
    uint32_t functions_cap;
    struct {
        uint64_t *items; /* addresses by number, as far as they were written */
        size_t n, cap;
    } functions;
    struct weft_ring_file *head; /* mapped, with the slots; NULL: no more */
    size_t head_bytes;
    struct {
        struct ring_slot *items;
        size_t n, cap;
    } slots;               /* those that were taken */
    uint32_t n_modules;    /* as last seen */
    uint32_t n_execs;      /* likewise */
    bool starts_program;   /* it has called exec since this was last false */
    uint32_t n_looks;      /* at what is mapped, or not, since then */
    bool is_broken;        /* not what it should be: left alone */
    bool is_over;          /* its program is gone, or runs another one: read once more */
    uint64_t lost_records; /* so far */
    uint64_t lost_threads;
    uint64_t n_records;   /* read */
    uint32_t n_threads;   /* that had a slot, beside the main one */
    uint32_t ledger_ring; /* its number in the ledger; UINT32_MAX: none */
};

/* Catches the signals of pages that are gone. Once, before any file is opened. */
void ring_files_begin(void);

/* Opens NAME in the folder. False: not ready yet, to be tried again, or, with `is_broken`, never
 * again. */
bool ring_file_open(int folder_fd, const char *name, struct ring_file *file);
void ring_file_close(struct ring_file *file);

struct ring_reading {
    struct session_output *output;
    struct trigger *trigger; /* NULL: none */
    uint8_t *room;           /* RING_ROOM_BYTES */
    struct proc_text text;   /* of files in /proc */
    uint64_t n_records;      /* read so far, of all files */
    uint32_t fill_percent;   /* of the fullest slot met */
    bool is_final;           /* nothing will be read any more: of no file */
    bool wants_snapshot;     /* the program asked, or the trigger fired */
    char why[128];
};

enum { RING_ROOM_BYTES = 1 << 18 };

/* Copies the units of all slots that have new ones to the output, and what explains them before; of
 * slots that are `not due` only those that are fuller than a quarter. Of a program that is gone all
 * is final. Records that were lost behind the last unit of a thread that ended, or of any in the
 * final reading, are written as LOST, at the time of the last of them. */
WEFT_CHECKED enum weft_code ring_file_read(struct ring_file *file, struct ring_reading *reading,
                                           bool is_due, struct weft_err *err);

/* Makes the program write nothing any more. */
void ring_file_stop(struct ring_file *file);

/* Have modules changed since this was last asked? */
bool ring_file_modules_changed(struct ring_file *file);

#endif
