/* SPDX-License-Identifier: MIT
 *
 * Differences between executions in words: where a node lies, what its time is, how sure that is.
 */
#ifndef WEFT_RENDER_TEXT_COMPARE_WORDS_H
#define WEFT_RENDER_TEXT_COMPARE_WORDS_H

#include "render/human.h"
#include "render/output.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stdint.h>

/* A signed time: "+3.10 ms", "-20.0 ns"; an infinite one is "-". */
struct weft_human weft_human_change(double ns);
/* A time that is a mean: rounded to whole ns. */
struct weft_human weft_human_mean(double ns);
/* "+23 %", or "x 54" where a share of thousands says less; nothing if `from` is not above 0. */
struct weft_human weft_human_growth(double change, double from);
/* "+3.10 ms (+18 %, 95 % 2.40 ms to 3.90 ms)": of a metric in its unit. */
void weft_words_change(struct weft_output *out, const struct weft_compare_metric *metric,
                       enum weft_metric_unit unit);
/* A value of a metric in its unit. */
struct weft_human weft_human_metric(double value, enum weft_metric_unit unit);

/* Frames from the root, `between` between them; bytes that are no printable UTF-8 replaced. */
void weft_words_path(struct weft_output *out, const struct weft_ecct_matrix *matrix, uint32_t node,
                     const char *between);

/* The same for people, " > " between them: frames of the kernel of which no symbol is known are
 * one, "[kernel]". */
void weft_words_where(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                      uint32_t node);

/* The threads that the path goes through besides that of the execution: "journal, disk"; nothing
 * if it stays there. */
void weft_words_threads(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                        uint32_t node);

/* What the time of a node is: "blocked: timer in `get_pointer > retry`",
 * "preempted by thread `tlm`, which is in `encode > compress`". */
void weft_words_cause(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                      uint32_t node);

/* A word of a command: in quotes, if the shell would see more than one, or less. */
void weft_words_argument(struct weft_output *out, struct weft_str word);

/* A function in a sentence: of a long name of C++ no arguments, neither of templates nor of the
 * function. */
void weft_words_function(struct weft_output *out, struct weft_str name);

/* Executions of a type, behind their number: "get", "iterations of server after recv". */
void weft_words_executions(struct weft_output *out, struct weft_str type);

enum { WEFT_TEXT_COLUMNS = 100 };

/* How many columns UTF-8 takes, one a character. */
size_t weft_words_columns(struct weft_str text);

/* A text behind `indent` columns that are written already, broken between words where a line is
 * full; and the end of the line. */
void weft_words_wrapped(struct weft_output *out, struct weft_str text, size_t indent);
/* The first line begins at `column`. */
void weft_words_wrapped_from(struct weft_output *out, struct weft_str text, size_t column,
                             size_t indent);

/* Text without what a terminal obeys. */
void weft_words_name(struct weft_output *out, struct weft_str name);

/* The bytes that `out`, a memory output, holds, kept in `arena`; it is empty then. */
struct weft_str weft_words_take(struct weft_output *out, struct weft_arena *arena);

#endif
