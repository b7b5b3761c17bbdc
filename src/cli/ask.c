/* SPDX-License-Identifier: MIT
 *
 * Opens the trace, asks, examines and renders in the order that all such commands share; a command
 * differs by the callbacks in its `struct weft_question`.
 */
#include "cli/ask.h"

static enum weft_code show(struct weft_cli *cli, const struct weft_question *question,
                           const union weft_result *result)
{
    struct weft_view view;
    enum weft_code code = WEFT_OK;
    if (question->examine)
        code = question->examine(cli, question->context, result);
    WEFT_THEN(code, weft_cli_view(cli, &view));
    if (code != WEFT_OK)
        return code;
    question->render(&view, question->context, result);
    return weft_output_close(view.out, &cli->err);
}

int weft_cli_ask(struct weft_cli *cli, const struct weft_question *question)
{
    union weft_request request = { 0 };
    union weft_result result = { 0 };
    enum weft_code code = weft_cli_open(cli);
    if (code == WEFT_OK && question->request)
        code = question->request(cli, question->context, &request);
    WEFT_THEN(code, weft_query_run(cli->session, question->analysis, &request, &result, &cli->err));
    WEFT_THEN(code, show(cli, question, &result));
    weft_result_free(result.any);
    return weft_cli_end(cli, code);
}

uint64_t weft_cli_limit(const struct weft_view *view, uint64_t given, uint64_t most)
{
    if (given != WEFT_LIMIT_DEFAULT)
        return given;
    return view->format == WEFT_FORMAT_TEXT ? most : 0;
}
