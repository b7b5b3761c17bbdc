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

/* A file that was given to a process, and is no ring yet. */
struct ask_given {
    uint32_t pid; /* as it is called here */
    char name[48];
};

enum { ASKS_NAME_BYTES = 37 };

struct asks {
    int fd;        /* -1: there is no socket */
    int folder_fd; /* of the rings; not its own */
    char name[ASKS_NAME_BYTES + 1];
    char token[WEFT_ASK_TOKEN_BYTES + 1];
    uint64_t second_ns; /* since when files are counted against the limit */
    uint32_t n_in_second;
    uint64_t turn_ns; /* since when the next two count */
    uint32_t n_in_turn, n_times;
    uint64_t n_refused; /* datagrams that were no requests, or too many */
    uint64_t n_lost_reports;
    struct {
        struct ask_report *items;
        size_t n, cap;
    } reports; /* until they are taken: those of one call of asks_serve */
    struct {
        struct ask_given *items;
        size_t n, cap;
    } pending;
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

/* Answers what has been asked, so much in a round of 10 ms; what is more waits for the next one, or
 * is dropped by the kernel. Never waits. */
void asks_serve(struct asks *asks);

/* The descriptor that wakes the recorder when something is asked; -1: not in this round any
 * more. */
int asks_wakes(const struct asks *asks);

/* Removes files that were given to processes that made no ring of them. */
void asks_tidy(struct asks *asks);

#endif
