/* SPDX-License-Identifier: MIT
 *
 * Asks as `weft diagnose` does, then for the paths of what it names. Tables are freed as soon as
 * they are answers: what stays is what the page takes.
 */
#include "cli/report_findings.h"

#include "query/evidence.h"
#include "query/findings.h"

static enum weft_code add_paths(struct weft_session *session, const struct weft_findings *findings,
                                struct weft_page_answers *answers, struct weft_err *err)
{
    struct weft_evidence evidence;
    const enum weft_code code = weft_evidence_gather(session, findings->table, &evidence, err);
    enum weft_code added = WEFT_OK;
    for (size_t i = 0; i < evidence.n_paths && added == WEFT_OK; i++) {
        const struct weft_evidence_path *path = &evidence.paths[i];
        added = weft_page_add_path(answers, path->table, path->thread_id, path->from_ns,
                                   path->to_ns, code == WEFT_OK ? err : NULL);
    }
    weft_evidence_fini(&evidence);
    return code != WEFT_OK ? code : added;
}

/* A part that fails is missing; the others are there. */
static enum weft_code add_parts(struct weft_session *session, const struct weft_findings *findings,
                                struct weft_page_answers *answers, struct weft_missing *missing,
                                struct weft_err *err)
{
    enum weft_code code = weft_page_add_findings(answers, findings->table, err);
    if (code != WEFT_OK)
        return code; /* there are no findings */
    code = add_paths(session, findings, answers, err);
    if (weft_missing_add(missing, WEFT_MISSING_SOME_PATHS, code, err))
        code = WEFT_OK;
    WEFT_THEN(code, weft_page_add_threads(answers, err));
    if (code != WEFT_OK)
        return code;
    code = weft_page_add_comparisons(answers, findings->table, err);
    return weft_missing_add(missing, WEFT_MISSING_SOME_COMPARISONS, code, err) ? WEFT_OK : code;
}

static enum weft_code find(struct weft_cli *cli, struct weft_session *session, const char *name,
                           struct weft_page_answers *answers, struct weft_missing *missing)
{
    const struct weft_findings_request request = { .path = cli->inputs[0],
                                                   .name = name,
                                                   .progress = cli->run.progress };
    struct weft_findings *findings = NULL;
    enum weft_code code = weft_findings_of_trace(session, &request, &findings, &cli->err);
    if (code == WEFT_OK)
        code = add_parts(session, findings, answers, missing, &cli->err);
    weft_result_free(findings);
    return code;
}

enum weft_code weft_report_findings(struct weft_cli *cli, const char *name,
                                    struct weft_page_answers *answers, struct weft_missing *missing)
{
    struct weft_session *session = NULL;
    enum weft_code code = weft_page_answers_init(answers, weft_session_trace(cli->session),
                                                 weft_session_run(cli->session)->pool, &cli->err);
    if (code != WEFT_OK)
        return code;
    answers->name = name;
    answers->has_states = weft_session_has_states(cli->session);
    answers->with_hosts = cli->common.with_paths;
    code = weft_session_share(cli->session, weft_session_run(cli->session), &session, &cli->err);
    WEFT_THEN(code, find(cli, session, name, answers, missing));
    weft_session_close(session);
    return code;
}
