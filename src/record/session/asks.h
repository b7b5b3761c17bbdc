/* SPDX-License-Identifier: MIT
 *
 * The recorder's socket for processes that cannot make the file of a ring by themselves
 * (schema/recording.h): what they ask for is made in the folder, and handed over. Anyone can send
 * anything there; only datagrams with the token of the recording are answered, and so many a
 * second.
 */
#ifndef WEFT_RECORD_SESSION_ASKS_H
#define WEFT_RECORD_SESSION_ASKS_H

#include "record/session/proc.h"
#include "schema/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that is not recorded, as it reports. */
struct ask_report {
    uint32_t pid; /* as it is called here */
    uint32_t library;
    uint32_t reach; /* enum weft_ring_reach */
    uint64_t time_ns;
};

enum { ASKS_NAME_BYTES = 37, ASKS_REPORTS_MAX = 4096 };

struct asks {
    int fd;        /* -1: there is no socket */
    int folder_fd; /* of the rings; not its own */
    char name[ASKS_NAME_BYTES + 1];
    char token[WEFT_ASK_TOKEN_BYTES + 1];
    uint64_t second_ns; /* since when files are counted against the limit */
    uint32_t n_in_second;
    uint64_t n_given;   /* files so far */
    uint64_t n_refused; /* datagrams that were none, or too many */
    struct {
        struct ask_report *items;
        size_t n, cap;
    } reports; /* at most ASKS_REPORTS_MAX */
    uint64_t n_reports;
    struct proc_text room;
};

/* Opens the socket; where there can be none, processes that cannot reach the folder are not
 * recorded.
 */
void asks_open(struct asks *asks, int folder_fd);
/* From now on requests are refused at once. Reports stay until the end. */
void asks_stop(struct asks *asks);
void asks_close(struct asks *asks);

/* What WEFT_RECORD_ASK is in the program's environment; false: there is no socket. */
bool asks_print(const struct asks *asks, char *text, size_t n_text);

/* Answers what has been asked. Never waits. */
void asks_serve(struct asks *asks);

#endif
