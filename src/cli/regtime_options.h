/* SPDX-License-Identifier: MIT
 *
 * The thresholds and the row budget of RegTime, shared by `regtime` and `report`.
 */
#ifndef WEFT_CLI_REGTIME_OPTIONS_H
#define WEFT_CLI_REGTIME_OPTIONS_H

#include "query/parse.h"
#include "query/session.h"

#include <stdint.h>

struct weft_regtime_options {
    unsigned preset;
    struct weft_threshold duration, gap, span; /* both members 0: the preset's */
    uint64_t glyphs;                           /* WEFT_GLYPHS_DEFAULT: the preset's */
    double negligible;
};

#define WEFT_GLYPHS_DEFAULT UINT64_MAX

extern const char *const weft_regtime_presets[]; /* ended by NULL */

/* Rows of an option table whose struct holds a struct weft_regtime_options as `member`. */
#define WEFT_REGTIME_OPTIONS(type, member)                                                         \
    { 0,                                                                                           \
      "preset",                                                                                    \
      "paper|fine",                                                                                \
      "thresholds: paper 1 %, 0.1 %, 13 % (default); fine 0.5 %, 0.1 %, 2 %",                      \
      WEFT_OPTION_CHOICE,                                                                          \
      offsetof(type, member.preset),                                                               \
      weft_regtime_presets },                                                                      \
        { 0,                                                                                       \
          "duration",                                                                              \
          "SHARE|TIME",                                                                            \
          "a call longer than this keeps a row of its own",                                        \
          WEFT_OPTION_THRESHOLD,                                                                   \
          offsetof(type, member.duration),                                                         \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "gap",                                                                                   \
          "SHARE|TIME",                                                                            \
          "a time without calls longer than this keeps a row of its own",                          \
          WEFT_OPTION_THRESHOLD,                                                                   \
          offsetof(type, member.gap),                                                              \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "span",                                                                                  \
          "SHARE|TIME",                                                                            \
          "a run of short calls is cut when it would become longer than this",                     \
          WEFT_OPTION_THRESHOLD,                                                                   \
          offsetof(type, member.span),                                                             \
          NULL },                                                                                  \
        { 0,                                                                                       \
          "glyphs",                                                                                \
          "N",                                                                                     \
          "rows a thread at most; 0: no limit (default: 400)",                                     \
          WEFT_OPTION_COUNT,                                                                       \
          offsetof(type, member.glyphs),                                                           \
          NULL },                                                                                  \
    {                                                                                              \
        0, "negligible", "SHARE", "fold nodes whose self time is a smaller share than this",       \
            WEFT_OPTION_FRACTION, offsetof(type, member.negligible), NULL                          \
    }

/* The analysis' options from what the user said. */
struct weft_regtime_opts weft_regtime_settings(const struct weft_regtime_options *options);

#endif
