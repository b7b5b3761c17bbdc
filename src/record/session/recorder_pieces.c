/* SPDX-License-Identifier: MIT
 *
 * Pieces that the recorder writes of its own accord, and those of the kernel's records. Called by
 * recorder.c alone, which decides when.
 */
#include "record/session/recorder_pieces.h"

#include "base/checked.h"
#include "base/redact.h"
#include "record/session/attached.h"
#include "record/session/ticks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 18 }; /* of records of the kernel */

/* ---- what it costs -----------------------------------------------------------------------------
 */

uint32_t recorder_target(const struct recorder *recorder)
{
    if (recorder->opts->argv)
        return (uint32_t)recorder->target.pid;
    return recorder->opts->all || recorder->subjects.n == 0 ? 0 : recorder->subjects.items[0].pid;
}

uint64_t recorder_own_cpu_ns(void)
{
    return session_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t bpf_ns(const struct recorder *recorder)
{
    return recorder->levels.kernel ? weft_kernel_run_ns(recorder->levels.kernel) : 0;
}

struct weft_recorder_state recorder_state(const struct recorder *recorder)
{
    return (struct weft_recorder_state){
        .events = recorder->programs.reading.n_records + recorder->kernel_records,
        .lost = programs_lost(&recorder->programs) + recorder->kernel_lost,
        .bytes = session_output_bytes(recorder->output),
        .unwritten_bytes = session_output_unwritten(recorder->output),
        .elapsed_ns = (recorder->stop_ns ? recorder->stop_ns : session_clock_ns(CLOCK_MONOTONIC)) -
                      recorder->start_ns,
        .own_cpu_ns = recorder_own_cpu_ns() - recorder->cpu_at_start_ns + bpf_ns(recorder),
        .n_programs = recorder->programs.n_all,
    };
}

enum weft_code recorder_put_cost(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_state state = recorder_state(recorder);
    const struct weft_record_cost cost = {
        .recorder_cpu_ns = recorder_own_cpu_ns() - recorder->cpu_at_start_ns,
        .target_cpu_ns = recorder->target.cpu_ns,
        .bpf_ns = bpf_ns(recorder),
        .bytes = state.bytes,
        .events = state.events,
        .lost = state.lost,
    };
    const struct weft_str payload = { (const char *)&cost, sizeof cost };
    return session_put(recorder->output, WEFT_PIECE_COST, 0, 0, WEFT_STR(""), payload, err);
}

/* ---- metadata of the recording ------------------------------------------------------------------
 */

enum weft_code recorder_put_clock(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_clock_pair before = recorder->programs.pair;
    const struct weft_clock_pair pair = session_clock_pair();
    const struct weft_str payload = { (const char *)&pair, sizeof pair };
    if (before.ticks && pair.ticks > before.ticks)
        recorder->programs.ns_per_tick =
            (double)(pair.monotonic_ns - before.monotonic_ns) / (double)(pair.ticks - before.ticks);
    recorder->programs.pair = pair;
    return session_put(recorder->output, WEFT_PIECE_CLOCK, 0, 0, WEFT_STR(""), payload, err);
}

/* As it was typed, without secrets; ends of lines would end the value. False: no memory. */
static bool put_command(FILE *out, char *const *argv)
{
    struct weft_redact redact = { 0 };
    char *text = NULL;
    size_t n_text = 0;
    FILE *words = open_memstream(&text, &n_text);
    for (size_t k = 0; words && argv && argv[k]; k++) {
        if (k)
            fputc(' ', words);
        weft_redact_argument(&redact, weft_str_of(argv[k]), words);
    }
    const bool is_whole = words && fclose(words) == 0;
    fputs("command=", out);
    for (size_t k = 0; text && k < n_text; k++)
        fputc(text[k] == '\n' ? ' ' : text[k], out);
    fputc('\n', out);
    free(text);
    return is_whole;
}

enum weft_code recorder_put_meta(struct recorder *recorder, struct weft_err *err)
{
    char *text = NULL;
    size_t n_text = 0;
    struct utsname system;
    FILE *out = open_memstream(&text, &n_text);
    if (!out)
        return weft_no_memory(err, "a recording");
    (void)uname(&system);
    fprintf(out, "host=%s\nkernel=%s\narchitecture=%s\nprocessors=%ld\n", system.nodename,
            system.release, system.machine, sysconf(_SC_NPROCESSORS_ONLN));
    fprintf(out, "folder=%s\nrecorder=%d\nlevels=%s\n", recorder->programs.folder, (int)getpid(),
            recorder->levels.text);
    const uint32_t target = recorder_target(recorder);
    if (target)
        fprintf(out, "target=%" PRIu32 "\nfollows=%s\n", target,
                recorder->opts->follows ? "yes" : "no");
    bool is_whole = put_command(out, recorder->opts->without_command ? NULL : recorder->opts->argv);
    is_whole = fclose(out) == 0 && is_whole;
    const enum weft_code code =
        is_whole ? session_put(recorder->output, WEFT_PIECE_META, 0, 0, WEFT_STR(""),
                               (struct weft_str){ text, n_text }, err)
                 : weft_no_memory(err, "a recording");
    free(text);
    return code;
}

/* ---- the kernel --------------------------------------------------------------------------------
 */

/* A program that the target became: its maps are wanted for stacks. */
static enum weft_code look_for_exec(struct recorder *recorder,
                                    const struct weft_kernel_record *record, struct weft_err *err)
{
    const uint32_t pid = (uint32_t)record->a;
    const bool is_target = recorder->opts->argv && recorder->target.pid == (pid_t)pid;
    if (record->type == WEFT_KERNEL_EXEC && programs_has(&recorder->programs, pid))
        loadable_look_at_process(&recorder->loadable, pid);
    return record->type == WEFT_KERNEL_EXEC && is_target
               ? programs_tell(&recorder->programs,
                               &(struct program_news){
                                   .pid = pid, .start_ns = record->time_ns, .is_new = true },
                               err)
               : WEFT_OK;
}

/* What the ledger is made of. */
static void take_life(struct recorder *recorder, const struct weft_kernel_record *record,
                      const uint8_t *payload)
{
    if (record->type == WEFT_KERNEL_FORK || record->type == WEFT_KERNEL_EXEC ||
        record->type == WEFT_KERNEL_EXIT)
        ledger_take_record(recorder->ledger, record, (const char *)payload);
}

static enum weft_code put_records(struct recorder *recorder, uint32_t cpu, const uint8_t *bytes,
                                  size_t n_bytes, struct weft_err *err)
{
    return session_put(recorder->output, WEFT_PIECE_KERNEL, cpu, 0, WEFT_STR(""),
                       (struct weft_str){ (const char *)bytes, n_bytes }, err);
}

/* Pieces of whole records. */
static enum weft_code take_records(void *context, uint32_t cpu,
                                   const struct weft_kernel_record *records, size_t n_bytes,
                                   struct weft_err *err)
{
    struct recorder *recorder = context;
    const uint8_t *const bytes = (const uint8_t *)records;
    struct weft_kernel_record record;
    enum weft_code code = WEFT_OK;
    size_t n_put = 0, at = 0;
    while (code == WEFT_OK && at + sizeof record <= n_bytes) {
        memcpy(&record, bytes + at, sizeof record);
        at += sizeof record + record.payload_bytes;
        recorder->kernel_records++;
        take_life(recorder, &record, bytes + at - record.payload_bytes);
        code = followed_take(&recorder->followed, &record, err);
        if (code == WEFT_OK && record.type == WEFT_KERNEL_EXEC)
            code = look_for_exec(recorder, &record, err);
        if (code == WEFT_OK && record.type == WEFT_KERNEL_EXEC && !recorder->opts->argv)
            code = attached_take_exec(recorder, (uint32_t)record.a,
                                      (const char *)bytes + at - record.payload_bytes,
                                      record.payload_bytes, err);
        if (code == WEFT_OK && at - n_put >= PIECE_BYTES) {
            code = put_records(recorder, cpu, bytes + n_put, at - n_put, err);
            n_put = at;
        }
    }
    return code == WEFT_OK && at > n_put
               ? put_records(recorder, cpu, bytes + n_put, at - n_put, err)
               : code;
}

enum weft_code recorder_put_losses(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_kernel *kernel = recorder->levels.kernel;
    const uint32_t n_cpus = kernel ? weft_kernel_n_cpus(kernel) : 0;
    enum weft_code code = WEFT_OK;
    if (n_cpus && !recorder->lost_on_cpu)
        recorder->lost_on_cpu = calloc(n_cpus, sizeof *recorder->lost_on_cpu);
    for (uint32_t k = 0; code == WEFT_OK && recorder->lost_on_cpu && k < n_cpus; k++) {
        const uint64_t n_lost = weft_kernel_lost(kernel, k);
        const uint64_t words[] = { n_lost - recorder->lost_on_cpu[k], recorder->lost_since_ns };
        if (words[0] == 0)
            continue;
        recorder->lost_on_cpu[k] = n_lost;
        recorder->kernel_lost += words[0];
        code = session_put(recorder->output, WEFT_PIECE_LOST, k, 0, WEFT_STR(""),
                           (struct weft_str){ (const char *)words, sizeof words }, err);
    }
    recorder->lost_since_ns = session_clock_ns(CLOCK_MONOTONIC);
    return code;
}

uint64_t recorder_lost_reports(const struct recorder *recorder)
{
    const uint64_t n_unread = weft_add_sat_u64(journal_lost(&recorder->programs.journal),
                                               recorder->programs.asks.n_lost_reports);
    return recorder->ledger ? weft_add_sat_u64(n_unread, ledger_lost_reports(recorder->ledger)) : 0;
}

enum weft_code recorder_put_unplaced(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_kernel *kernel = recorder->levels.kernel;
    struct recorder_unplaced now = { .n_skipped = kernel ? weft_kernel_skipped(kernel) : 0,
                                     .n_reports = recorder_lost_reports(recorder) };
    const struct recorder_unplaced *before = &recorder->unplaced;
    char text[192];
    now.n_threads = ledger_totals(recorder->ledger, &now.n_further).n_lost_threads;
    if (now.n_threads == before->n_threads && now.n_skipped == before->n_skipped &&
        now.n_further == before->n_further && now.n_reports == before->n_reports)
        return WEFT_OK;
    recorder->unplaced = now;
    const int n_text = snprintf(text, sizeof text,
                                "lost_threads=%" PRIu64 "\nskipped=%" PRIu64 "\nfurther=%" PRIu64
                                "\nlost_reports=%" PRIu64 "\n",
                                now.n_threads, now.n_skipped, now.n_further, now.n_reports);
    return session_put(recorder->output, WEFT_PIECE_META, 0, 0, WEFT_STR(""),
                       (struct weft_str){ text, (size_t)n_text }, err);
}

/* Names of the kernel's functions, for the stacks so far. */
enum weft_code recorder_put_kernel_names(struct recorder *recorder, struct weft_err *err)
{
    struct weft_str text = { 0 };
    enum weft_code code = WEFT_OK;
    do {
        code = recorder->levels.kernel ? weft_kernel_names(recorder->levels.kernel, &text, err)
                                       : WEFT_OK;
        if (code == WEFT_OK && text.n_bytes > 0)
            code = session_put(recorder->output, WEFT_PIECE_KERNEL_NAMES, 0, 0, WEFT_STR(""), text,
                               err);
    } while (code == WEFT_OK && text.n_bytes > 0);
    return code;
}

enum weft_code recorder_poll_kernel(struct recorder *recorder, uint32_t *fill_percent,
                                    struct weft_err *err)
{
    uint32_t fill = 0;
    if (!recorder->levels.kernel)
        return WEFT_OK;
    const enum weft_code code =
        weft_kernel_poll(recorder->levels.kernel, take_records, recorder, &fill, err);
    *fill_percent = fill > *fill_percent ? fill : *fill_percent;
    return code;
}
