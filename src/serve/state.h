/* SPDX-License-Identifier: MIT
 *
 * The server's inside: the traces it serves, what it keeps of them, and answers.
 */
#ifndef WEFT_SERVE_STATE_H
#define WEFT_SERVE_STATE_H

#include "query/session.h"
#include "render/output.h"
#include "serve/comparisons.h"
#include "serve/jobs.h"
#include "serve/target.h"

#include <stdatomic.h>

/* What is computed of a whole trace once, and kept. */
enum weft_kept {
    WEFT_KEPT_NAMES,
    WEFT_KEPT_REGTIME,
    WEFT_KEPT_FUNCTIONS,
    WEFT_KEPT_SHAPES,
    WEFT_KEPT_INTERPLAY,
    WEFT_KEPTS
};

struct weft_answer {
    struct weft_output *body; /* in memory */
    const char *type;
    bool is_gzip;
};

void weft_answer_fini(struct weft_answer *answer);

struct weft_kept_answer {
    struct weft_answer *_Atomic ready; /* NULL: not yet */
};

/* A trace. */
struct weft_served {
    const char *path;
    const char *name;             /* the path's last part */
    struct weft_session *session; /* holds the trace; nothing is asked of it */
    struct weft_session *heavy;   /* the heavy worker's */
    struct weft_kept_answer kept[WEFT_KEPTS];
};

/* A database of executions. */
struct weft_served_database {
    const char *path;
    const char *name; /* the path's last part */
};

/* A quick worker's session: of the trace it was asked last. */
struct weft_quick {
    const struct weft_served *served;
    struct weft_session *session;
};

struct weft_serve_state {
    struct weft_served *traces;
    size_t n_traces;
    struct weft_served_database *databases;
    size_t n_databases;
    struct weft_comparisons comparisons; /* the heavy worker's */
    struct weft_quick *quick;            /* by worker */
    struct weft_output *colors;          /* the document of api/colors */
    struct weft_errand *ahead;           /* what is computed before anybody asks */
    struct weft_jobs *jobs;
    _Atomic uint64_t answer_bytes; /* held by answers under way */
    uint64_t answer_bytes_max;
};

/* A question, while it is answered. */
struct weft_ask {
    struct weft_serve_state *state;
    struct weft_served *served;                  /* NULL: it is of a database */
    const struct weft_served_database *database; /* NULL: it is of a trace */
    struct weft_session
        *session; /* restricted to the threads asked for; NULL if answered at once */
    const struct weft_trace *trace;
    const struct weft_run *run; /* NULL if answered at once */
    const struct weft_query *query;
    const struct weft_analysis *list; /* asked for by name: a plain list; else NULL */
    uint64_t from_ns, to_ns;          /* the window asked for, or the whole trace */
    bool has_window;
    struct weft_answer *answer;
};

/* How a question is answered. */
enum weft_manner {
    WEFT_ANSWER_NOW,   /* by the connection's own thread: what needs no reading of blocks */
    WEFT_ANSWER_QUICK, /* by a quick worker */
    WEFT_ANSWER_HEAVY, /* by the heavy one */
};

/* A row of the vocabulary. */
struct weft_endpoint {
    const char *name;
    enum weft_manner manner;
    uint64_t takes, needs; /* parameters, as bits */
    int keeps;             /* enum weft_kept if asked of the whole trace without options; or -1 */
    enum weft_code (*run)(const struct weft_ask *ask, struct weft_err *err);
};

/* ---- what endpoints share -------------------------------------------------------------------- */

/* The view of the answer: JSON, with the ids that go on asking. */
struct weft_view weft_ask_view(const struct weft_ask *ask);

/* The number of a parameter, or `otherwise` if it was not given. WEFT_E_ARG above `max`. */
WEFT_CHECKED enum weft_code weft_ask_number(const struct weft_ask *ask, enum weft_param param,
                                            uint64_t given, uint64_t otherwise, uint64_t min,
                                            uint64_t max, uint64_t *out, struct weft_err *err);

/* WEFT_E_LIMIT when an answer would have more bytes than one may. */
WEFT_CHECKED enum weft_code weft_ask_fits(uint64_t n_bytes, struct weft_err *err);

extern const char weft_type_json[], weft_type_columns[], weft_type_csv[];

/* ---- endpoints, by the file they stand in ---------------------------------------------------- */

#define WEFT_ENDPOINT(name)                                                                        \
    enum weft_code weft_serve_##name(const struct weft_ask *ask, struct weft_err *err)

WEFT_ENDPOINT(traces); /* about.c */
WEFT_ENDPOINT(info);
WEFT_ENDPOINT(threads);
WEFT_ENDPOINT(names);
WEFT_ENDPOINT(states);
WEFT_ENDPOINT(notes);
WEFT_ENDPOINT(colors);
WEFT_ENDPOINT(progress);
WEFT_ENDPOINT(blocking); /* interplay.c */
WEFT_ENDPOINT(correspondences);
WEFT_ENDPOINT(interplay);
WEFT_ENDPOINT(lanes);
WEFT_ENDPOINT(locktree);
WEFT_ENDPOINT(lod); /* parts.c */
WEFT_ENDPOINT(interval);
WEFT_ENDPOINT(tree);
WEFT_ENDPOINT(item);
WEFT_ENDPOINT(step);
WEFT_ENDPOINT(path);
WEFT_ENDPOINT(subtree);
WEFT_ENDPOINT(functions); /* whole.c */
WEFT_ENDPOINT(regtime);
WEFT_ENDPOINT(shapes);
WEFT_ENDPOINT(calls);
WEFT_ENDPOINT(histogram);
WEFT_ENDPOINT(outliers);
WEFT_ENDPOINT(list); /* any analysis that answers with one */

WEFT_ENDPOINT(types); /* compare.c */
WEFT_ENDPOINT(executions);
WEFT_ENDPOINT(compare);
WEFT_ENDPOINT(cut);      /* cut.c */
WEFT_ENDPOINT(diagnose); /* findings.c */

/* ---- state.c --------------------------------------------------------------------------------- */

struct weft_serve_opts;

WEFT_CHECKED enum weft_code weft_state_init(struct weft_serve_state *state,
                                            const struct weft_serve_opts *opts,
                                            struct weft_err *err);
void weft_state_fini(struct weft_serve_state *state);

/* Answers a question: on this thread, or by a worker while the client on socket `fd` waits. A kept
 * answer is in *kept, and is not the caller's; else the answer is in *answer, the caller's to
 * finish. */
struct weft_reply {
    int status; /* of HTTP */
    const struct weft_answer *kept;
    struct weft_answer answer;
    struct weft_err err; /* if status is not 200 */
    bool is_gone;        /* its client is gone */
};

void weft_state_answer(struct weft_serve_state *state, struct weft_str name, struct weft_str query,
                       int fd, struct weft_reply *reply);

#endif
