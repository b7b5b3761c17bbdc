/* SPDX-License-Identifier: MIT
 *
 * A small server whose requests are slow now and then, for one reason of many: what the reasons
 * have in common. Nothing is marked for a recorder, as in programs that users have.
 */
#ifndef WEFT_EXAMPLES_KINDS_H
#define WEFT_EXAMPLES_KINDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A reason, of which either may be NULL. `is_broken` is whether the fault is there. */
struct kind {
    const char *name;
    void (*setup)(bool is_broken);
    void (*handle)(unsigned number, bool is_broken); /* a request, by one of the workers */
    void (*background)(bool is_broken);              /* again and again, by another thread */
    unsigned n_requests;                             /* 0: 600 */
    unsigned every_us;                               /* a request comes; 0: 1000 */
    void (*run)(bool is_broken);                     /* the whole program; NULL: a server */
};

/* Up to one without a name. */
extern const struct kind lock_kinds[], wait_kinds[], work_kinds[], together_kinds[], event_kinds[],
    delay_kinds[];

/* Computes for so long, not counting the time that the thread does not run. */
void compute_us(unsigned us);
void pause_us(unsigned us);
void fail(const char *what) __attribute__((noreturn));

#define CALL __attribute__((noinline)) static

#endif
