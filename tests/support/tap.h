/* SPDX-License-Identifier: MIT
 *
 * TAP for one-file test programs:
 *
 *     int main(void)
 *     {
 *         uint64_t seed = tap_seed(1);          // WEFT_SEED=n in the environment overrides it
 *         tap_eq_u64(got, want, "sum of %s", row->name);
 *         return tap_done();
 *     }
 */
#ifndef WEFT_TESTS_TAP_H
#define WEFT_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAP_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAP_IS_SANITIZED true
#endif
#endif
#ifndef TAP_IS_SANITIZED
#define TAP_IS_SANITIZED false
#endif

#define TAP_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at), unused))

struct tap_state {
    unsigned n_run;
    unsigned n_failed;
};

static struct tap_state tap_state;

__attribute__((format(printf, 2, 0), unused)) static void tap_line(bool is_ok, const char *format,
                                                                   va_list args)
{
    char name[512];
    (void)vsnprintf(name, sizeof name, format, args);
    for (char *at = name; *at; at++) /* '#' would begin a directive, a newline another line */
        *at = *at == '#' ? '~' : *at == '\n' ? ' ' : *at;
    tap_state.n_run++;
    tap_state.n_failed += !is_ok;
    printf("%s %u - %s\n", is_ok ? "ok" : "not ok", tap_state.n_run, name);
    (void)fflush(stdout);
}

/* A comment line. */
TAP_PRINTF(1, 2) static void tap_note(const char *format, ...)
{
    va_list args;
    char text[2048];
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("# ");
    for (const char *at = text; *at; at++) /* every line of it is a comment */
        (void)fputs(*at == '\n' ? "\n# " : (const char[]){ *at, '\0' }, stdout);
    printf("\n");
}

/* One test named by the printf format; returns `is_ok`. */
TAP_PRINTF(2, 3) static bool tap_ok(bool is_ok, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tap_line(is_ok, format, args);
    va_end(args);
    return is_ok;
}

TAP_PRINTF(3, 4)
static bool tap_eq_u64(uint64_t got, uint64_t want, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tap_line(got == want, format, args);
    va_end(args);
    if (got != want)
        tap_note("got %" PRIu64 " (0x%" PRIx64 "), want %" PRIu64 " (0x%" PRIx64 ")", got, got,
                 want, want);
    return got == want;
}

TAP_PRINTF(3, 4)
static bool tap_eq_i64(int64_t got, int64_t want, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tap_line(got == want, format, args);
    va_end(args);
    if (got != want)
        tap_note("got %" PRId64 ", want %" PRId64, got, want);
    return got == want;
}

/* Compares texts that end with NUL; NULL equals only NULL. */
TAP_PRINTF(3, 4)
static bool tap_eq_str(const char *got, const char *want, const char *format, ...)
{
    const bool is_ok = got && want ? strcmp(got, want) == 0 : got == want;
    va_list args;
    va_start(args, format);
    tap_line(is_ok, format, args);
    va_end(args);
    if (!is_ok)
        tap_note("got \"%s\", want \"%s\"", got ? got : "(null)", want ? want : "(null)");
    return is_ok;
}

/* Compares n_bytes bytes and notes the first that differs. */
TAP_PRINTF(4, 5)
static bool tap_eq_mem(const void *got, const void *want, size_t n_bytes, const char *format, ...)
{
    const bool is_ok = n_bytes == 0 || memcmp(got, want, n_bytes) == 0;
    va_list args;
    va_start(args, format);
    tap_line(is_ok, format, args);
    va_end(args);
    for (size_t at = 0; !is_ok && at < n_bytes; at++) {
        const unsigned char a = ((const unsigned char *)got)[at];
        const unsigned char b = ((const unsigned char *)want)[at];
        if (a != b) {
            tap_note("byte %zu: got %02x, want %02x", at, a, b);
            break;
        }
    }
    return is_ok;
}

/* A test that cannot run here, with the reason. */
TAP_PRINTF(1, 2) static void tap_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("ok %u # SKIP ", ++tap_state.n_run);
    (void)vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* A random test that goes astray fails, rather than take all memory of the machine. Sanitizers map
 * more than any limit; they have one of their own (tests/oracle/meson.build). */
__attribute__((unused)) static void tap_bound_memory(void)
{
    const struct rlimit limit = { .rlim_cur = (rlim_t)2 << 30, .rlim_max = (rlim_t)2 << 30 };
    if (!TAP_IS_SANITIZED)
        (void)setrlimit(RLIMIT_DATA, &limit);
}

/* The seed of a random test, printed so that a failure can be repeated with WEFT_SEED=n. */
__attribute__((unused)) static uint64_t tap_seed(uint64_t default_seed)
{
    tap_bound_memory();
    const char *text = getenv("WEFT_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 0) : default_seed;
    tap_note("seed %" PRIu64, seed);
    return seed;
}

/* A small, good generator (splitmix64): the next value of the stream in `*state`. */
__attribute__((unused)) static uint64_t tap_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Prints the plan; the program's exit status. */
__attribute__((unused)) static int tap_done(void)
{
    printf("1..%u\n", tap_state.n_run);
    return tap_state.n_failed == 0 ? 0 : 1;
}

#endif
