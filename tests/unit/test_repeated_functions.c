/* SPDX-License-Identifier: MIT
 *
 * Functions that repeat at the top of a thread, those that are parts of them, and recursive ones.
 */
#include "query/repeated_functions.h"
#include "text_trace.h"

#include <stdlib.h>
#include <unistd.h>

enum { MAIN, WORK, COND_WAIT, TASK, HELPER, ROUNDS = 12 };

/* main calls work 12 times, which calls task twice, which calls itself once; helper once by itself.
 */
static void write_events(char *text, size_t n_bytes)
{
    static const char *const round[] = { "enter 0 1", "enter 0 3", "enter 0 3", "exit 0 3",
                                         "exit 0 3",  "enter 0 3", "exit 0 3",  "exit 0 1" };
    unsigned at_ns = 2;
    size_t n = (size_t)snprintf(text, n_bytes, "1 0 enter 0 0\n");
    for (size_t i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < sizeof round / sizeof *round; k++)
            n += (size_t)snprintf(text + n, n_bytes - n, "%u 0 %s\n", at_ns++, round[k]);
    (void)snprintf(text + n, n_bytes - n, "%u 0 enter 0 4\n%u 0 exit 0 4\n%u 0 exit 0 0\n", at_ns,
                   at_ns + 1, at_ns + 2);
}

int main(void)
{
    static const struct text_thread thread = { .tid = TOLD_PROCESS };
    static char text[8192];
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_trace *trace = NULL;
    struct weft_repeated_function *found = NULL;
    bool is_whole[] = { [WORK] = true, [HELPER] = false };
    const struct weft_run run = { .pool = weft_pool_new(1) };
    (void)snprintf(path, sizeof path, "%s/test_repeated.%d.weft", root ? root : ".", (int)getpid());
    write_events(text, sizeof text);
    if (text_trace_write(path, &thread, 1, text) != WEFT_OK ||
        weft_trace_open(path, &trace, NULL) != WEFT_OK ||
        weft_repeated_functions(trace, is_whole, &run, &found, NULL) != WEFT_OK)
        abort();
    tap_ok(found[WORK].is_repeated && found[WORK].n_at == ROUNDS && found[WORK].n_below == 0,
           "what repeats at the top is no part");
    tap_ok(!found[TASK].is_repeated && found[TASK].n_at == 0 && found[TASK].n_below == 2 * ROUNDS &&
               found[TASK].n_calls == 3 * ROUNDS,
           "what that calls is, its calls of itself not counted");
    tap_ok(!found[MAIN].is_repeated && !found[HELPER].is_repeated,
           "what is called once is neither");
    free(found);
    is_whole[WORK] = false;
    if (weft_repeated_functions(trace, is_whole, &run, &found, NULL) != WEFT_OK)
        abort();
    tap_ok(found[WORK].is_repeated && found[TASK].n_below == 0, "what waits has no parts");
    free(found);
    weft_trace_close(trace);
    weft_pool_free(run.pool);
    (void)unlink(path);
    return tap_done();
}
