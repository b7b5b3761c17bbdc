/* SPDX-License-Identifier: MIT
 *
 * A server with a wait function of its own, as databases have: sessions wait in it for their
 * clients and for rows that others have locked.
 */
#include "kinds.h"

enum { SESSIONS = 4, MESSAGES = 1200 };

/* What a thread waits for: to be set. */
struct event {
    pthread_mutex_t mutex;
    pthread_cond_t is_signalled;
    bool is_set;
};

static struct session {
    struct event message;
    struct event row; /* is free: set by the one that has it */
    volatile bool is_over;
} sessions[SESSIONS + 1]; /* the last one is the archiver's */

static struct {
    pthread_mutex_t mutex;
    struct session *owner;
    struct session *waiting[SESSIONS + 1];
    unsigned n_waiting;
} row = { .mutex = PTHREAD_MUTEX_INITIALIZER };

CALL void wait_for_event(struct event *event)
{
    pthread_mutex_lock(&event->mutex);
    while (!event->is_set)
        pthread_cond_wait(&event->is_signalled, &event->mutex);
    event->is_set = false;
    pthread_mutex_unlock(&event->mutex);
}

CALL void set_event(struct event *event)
{
    pthread_mutex_lock(&event->mutex);
    event->is_set = true;
    pthread_cond_signal(&event->is_signalled);
    pthread_mutex_unlock(&event->mutex);
}

CALL void lock_row(struct session *session)
{
    pthread_mutex_lock(&row.mutex);
    const bool is_free = !row.owner;
    if (is_free)
        row.owner = session;
    else
        row.waiting[row.n_waiting++] = session;
    pthread_mutex_unlock(&row.mutex);
    if (!is_free)
        wait_for_event(&session->row);
}

/* Hands it to the one that waits longest. */
CALL void unlock_row(void)
{
    pthread_mutex_lock(&row.mutex);
    row.owner = row.n_waiting ? row.waiting[0] : NULL;
    for (unsigned i = 1; i < row.n_waiting; i++)
        row.waiting[i - 1] = row.waiting[i];
    row.n_waiting -= row.n_waiting > 0;
    if (row.owner)
        set_event(&row.owner->row);
    pthread_mutex_unlock(&row.mutex);
}

CALL void update_row(struct session *session)
{
    lock_row(session);
    compute_us(50);
    unlock_row();
}

CALL void read_message(struct session *session)
{
    wait_for_event(&session->message);
}

static void *session_main(void *session_void)
{
    struct session *session = session_void;
    for (;;) {
        read_message(session);
        if (session->is_over)
            return NULL;
        compute_us(100);
        update_row(session);
    }
}

CALL void archive_rows(struct session *session)
{
    lock_row(session);
    pause_us(40000);
    unlock_row();
}

static void *archiver_main(void *session_void)
{
    struct session *session = session_void;
    while (!session->is_over) {
        pause_us(160000);
        archive_rows(session);
    }
    return NULL;
}

CALL void run_sessions(bool is_broken)
{
    pthread_t threads[SESSIONS + 1];
    const unsigned n = is_broken ? SESSIONS + 1 : SESSIONS;
    for (unsigned i = 0; i < n; i++) {
        pthread_mutex_init(&sessions[i].message.mutex, NULL);
        pthread_cond_init(&sessions[i].message.is_signalled, NULL);
        pthread_mutex_init(&sessions[i].row.mutex, NULL);
        pthread_cond_init(&sessions[i].row.is_signalled, NULL);
        if (pthread_create(&threads[i], NULL, i < SESSIONS ? session_main : archiver_main,
                           &sessions[i]) != 0)
            fail("pthread_create");
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        pause_us(1500);
        set_event(&sessions[i % SESSIONS].message);
    }
    for (unsigned i = 0; i < n; i++) {
        sessions[i].is_over = true;
        set_event(&sessions[i].message);
        pthread_join(threads[i], NULL);
    }
}

const struct kind event_kinds[] = {
    { .name = "wait-function", .run = run_sessions },
    { .name = NULL },
};
