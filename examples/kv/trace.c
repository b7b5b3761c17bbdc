/* SPDX-License-Identifier: MIT
 *
 * Recording with clang's XRay, when KV_XRAY says how (see ./run):
 *
 *     KV_XRAY="func_duration_threshold_us=0:buffer_size=65536:buffer_max=2048" \
 *     XRAY_OPTIONS="xray_logfile_base=kv." ./kv LOG
 *
 * The flight data recorder keeps its buffers in memory, and neither starts nor writes them by
 * itself: this file starts it before main, and writes the log after main has returned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* From <xray/xray_log_interface.h>, which includes C++ headers. */
enum { XRAY_LOG_INITIALIZED = 2, XRAY_LOG_FINALIZED = 4, XRAY_LOG_FLUSHED = 2 };
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *config);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);

/* Time for threads that are just writing a record to notice that the log is final. */
enum { GRACE_US = 20000 };

__attribute__((xray_never_instrument)) static void finish_recording(void)
{
    if (__xray_log_finalize() != XRAY_LOG_FINALIZED)
        return;
    usleep(GRACE_US);
    if (__xray_log_flushLog() != XRAY_LOG_FLUSHED)
        (void)fprintf(stderr, "kv: the XRay log could not be written\n");
}

__attribute__((constructor, xray_never_instrument)) static void start_recording(void)
{
    const char *config = getenv("KV_XRAY");
    if (!config)
        return;
    (void)__xray_log_select_mode("xray-fdr");
    if (__xray_log_init_mode("xray-fdr", config) == XRAY_LOG_INITIALIZED && __xray_patch() >= 0)
        (void)atexit(finish_recording);
    else
        (void)fprintf(stderr, "kv: XRay does not record\n");
}
