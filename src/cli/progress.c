/* SPDX-License-Identifier: MIT
 *
 * A thread that redraws one line ten times a second, after half a second of silence, from the
 * shared counters of base/progress.h. The rate counts from the start of each activity.
 */
#include "cli/progress.h"

#include "base/clock.h"
#include "cli/cli.h"
#include "render/human.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100, LINE_BYTES = 256 };

/* A rate over less than this says nothing. */
#define LEAST_SECONDS 0.25

#define QUIET_NS UINT64_C(500000000)

struct weft_progress_line {
    struct weft_progress *progress;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool is_stopping;
    bool is_drawn;
    uint64_t begin_ns; /* of the activity now under way */
    const char *activity;
};

static struct weft_human amount(const char *unit, uint64_t n)
{
    if (unit && strcmp(unit, "bytes") == 0)
        return weft_human_bytes(n);
    return weft_human_rough_count(n);
}

/* "reading  45 %  286 MB of 631 MB, 410 MB/s, 0.84 s left" */
static void compose(const struct weft_progress_line *line, uint64_t now_ns, char *out, size_t n_out)
{
    const struct weft_progress *progress = line->progress;
    uint64_t done = atomic_load(&progress->done), total = atomic_load(&progress->total);
    const char *unit = atomic_load(&progress->unit);
    bool is_bytes = unit && strcmp(unit, "bytes") == 0;
    double seconds = (double)(now_ns - line->begin_ns) / 1e9;
    uint64_t rate = seconds > 0 ? (uint64_t)((double)done / seconds) : 0;
    const char *noun = is_bytes || !unit ? "" : unit;
    const char *gap = *noun ? " " : "";
    if (total == 0 || done > total) {
        snprintf(out, n_out, "%s  %s%s%s, %s/s", line->activity, amount(unit, done).text, gap, noun,
                 amount(unit, rate).text);
        return;
    }
    if (seconds < LEAST_SECONDS || done == 0) {
        snprintf(out, n_out, "%s  %3.0f %%  %s of %s%s%s", line->activity,
                 100.0 * (double)done / (double)total, amount(unit, done).text,
                 amount(unit, total).text, gap, noun);
        return;
    }
    uint64_t left_ns = (uint64_t)(seconds * 1e9 / (double)done * (double)(total - done));
    snprintf(out, n_out, "%s  %3.0f %%  %s of %s%s%s, %s/s, %s left", line->activity,
             100.0 * (double)done / (double)total, amount(unit, done).text,
             amount(unit, total).text, gap, noun, amount(unit, rate).text,
             weft_human_ns(left_ns).text);
}

/* Notices when another activity begins; its rate counts from there. */
static void observe(struct weft_progress_line *line, uint64_t now_ns)
{
    const char *activity = atomic_load(&line->progress->activity);
    if (activity == line->activity)
        return;
    line->activity = activity;
    line->begin_ns = now_ns;
}

static void draw(struct weft_progress_line *line, uint64_t now_ns)
{
    char text[LINE_BYTES];
    struct winsize size = { 0 };
    if (!line->activity)
        return;
    compose(line, now_ns, text, sizeof text);
    bool has_size = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    int width = has_size && size.ws_col < sizeof text ? size.ws_col - 1 : (int)sizeof text - 1;
    weft_say("\r%.*s\033[K", width, text);
    line->is_drawn = true;
}

static struct timespec next_tick(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += TICK_MS * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static void *run(void *context)
{
    struct weft_progress_line *line = context;
    uint64_t start_ns = weft_clock_now_ns();
    pthread_mutex_lock(&line->mutex);
    observe(line, start_ns);
    while (!line->is_stopping) {
        struct timespec until = next_tick();
        pthread_cond_timedwait(&line->stopped, &line->mutex, &until);
        uint64_t now_ns = weft_clock_now_ns();
        observe(line, now_ns);
        if (!line->is_stopping && now_ns - start_ns > QUIET_NS)
            draw(line, now_ns);
    }
    pthread_mutex_unlock(&line->mutex);
    return NULL;
}

static bool begin(struct weft_progress_line *line)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&line->mutex, NULL);
    pthread_cond_init(&line->stopped, &attributes);
    pthread_condattr_destroy(&attributes);
    line->begin_ns = weft_clock_now_ns();
    return pthread_create(&line->thread, NULL, run, line) == 0;
}

struct weft_progress_line *weft_progress_line_start(struct weft_progress *progress)
{
    const char *term = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
        return NULL;
    struct weft_progress_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    line->progress = progress;
    if (begin(line))
        return line;
    free(line);
    return NULL;
}

void weft_progress_line_stop(struct weft_progress_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&line->mutex);
    line->is_stopping = true;
    pthread_cond_signal(&line->stopped);
    pthread_mutex_unlock(&line->mutex);
    pthread_join(line->thread, NULL);
    if (line->is_drawn)
        weft_say("\r\033[K");
    pthread_cond_destroy(&line->stopped);
    pthread_mutex_destroy(&line->mutex);
    free(line);
}
