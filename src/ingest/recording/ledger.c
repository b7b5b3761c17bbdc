/* SPDX-License-Identifier: MIT
 *
 * See ledger.h. An entry replaces the one before it with the same number.
 */
#include "ingest/recording/ledger.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <stdlib.h>

/* Of the recorder, in the order of their numbers: places in the vector. */
struct reading {
    struct rec_ledger *ledger;
    struct weft_strtab *texts;
    struct weft_map *of_number;
    uint32_t number;
};

static void read_entry(struct weft_cursor *cur, struct reading *reading,
                       struct weft_ledger_process *process)
{
    reading->number = weft_cur_u32(cur);
    process->pid = weft_cur_u32(cur);
    process->parent = weft_cur_u32(cur);
    process->state = weft_cur_u8(cur);
    process->why = weft_cur_u8(cur);
    process->levels = weft_cur_u8(cur) & WEFT_LEDGER_LEVELS;
    (void)weft_cur_u8(cur);
    process->start_ns = weft_cur_u64(cur);
    process->end_ns = weft_cur_u64(cur);
    process->from_ns = weft_cur_u64(cur);
    process->until_ns = weft_cur_u64(cur);
    process->n_records = weft_cur_u64(cur);
    process->n_lost_records = weft_cur_u64(cur);
    process->n_threads = weft_cur_u32(cur);
    process->n_lost_threads = weft_cur_u32(cur);
    const uint32_t n_name = weft_cur_u32(cur);
    (void)weft_cur_u32(cur);
    const uint8_t *name = weft_cur_take(cur, n_name);
    process->name = (struct weft_str){ (const char *)name, name ? n_name : 0 };
    (void)weft_cur_take(cur, (8 - n_name % 8) % 8);
    cur->fault |= process->state >= WEFT_LEDGER_STATES;
}

/* False without memory. */
static bool keep(struct reading *reading, const struct weft_ledger_process *process)
{
    struct rec_ledger *ledger = reading->ledger;
    uint32_t text;
    bool is_new;
    const struct weft_str name = process->name.bytes ? process->name : WEFT_STR("");
    const uint32_t place = weft_map_add(reading->of_number, reading->number, &is_new);
    if (place == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(ledger)) ||
        weft_strtab_intern(reading->texts, name, &text, NULL) != WEFT_OK)
        return false;
    ledger->items[place] = *process;
    ledger->items[place].name = weft_strtab_get(reading->texts, text);
    return true;
}

/* What is no entry ends the piece, and is counted. False without memory. */
static bool read_entries(struct reading *reading, struct weft_cursor cur)
{
    struct rec_ledger *ledger = reading->ledger;
    while (weft_cur_left(&cur) > 0) {
        const uint64_t off = weft_cur_offset(&cur);
        const size_t n_left = weft_cur_left(&cur);
        struct weft_ledger_process process = { 0 };
        read_entry(&cur, reading, &process);
        if (cur.fault) {
            ledger->bad_off = ledger->n_bad ? ledger->bad_off : off;
            ledger->n_bad += n_left;
            return true;
        }
        if (!keep(reading, &process))
            return false;
    }
    return true;
}

enum weft_code rec_ledger_read(const struct rec_pieces *pieces, struct weft_strtab *texts,
                               struct rec_ledger *ledger, struct weft_err *err)
{
    struct reading reading = { .ledger = ledger, .texts = texts, .of_number = weft_map_new() };
    struct rec_room room = { 0 };
    bool is_good = reading.of_number != NULL;
    *ledger = (struct rec_ledger){ 0 };
    for (size_t k = 0; is_good && k < pieces->n; k++) {
        const struct rec_piece *piece = &pieces->items[k];
        struct weft_str payload;
        if (piece->kind != WEFT_PIECE_LEDGER)
            continue;
        is_good = rec_piece_read(pieces, piece, &room, &payload) &&
                  read_entries(&reading,
                               weft_cur_init(payload.bytes, payload.n_bytes, piece->payload_off));
    }
    rec_room_fini(&room);
    weft_map_free(reading.of_number);
    return is_good ? WEFT_OK : weft_no_memory(err, "the ledger");
}

void rec_ledger_fini(struct rec_ledger *ledger)
{
    WEFT_VEC_FINI(ledger);
}

void rec_ledger_break(struct rec_ledger *ledger, enum weft_ledger_why why, uint64_t at_ns)
{
    for (size_t k = 0; k < ledger->n; k++) {
        struct weft_ledger_process *process = &ledger->items[k];
        const bool is_open =
            process->state == WEFT_LEDGER_RECORDED || process->why == WEFT_LEDGER_UNDECIDED;
        if (process->end_ns != WEFT_LEDGER_NO_TIME)
            continue;
        if (process->until_ns == WEFT_LEDGER_NO_TIME && (process->levels || is_open))
            process->until_ns = at_ns;
        if (!is_open)
            continue;
        process->state = WEFT_LEDGER_PARTLY;
        process->why = (uint8_t)why;
    }
}
