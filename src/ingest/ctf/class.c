/* SPDX-License-Identifier: MIT
 *
 * Look-up and insertion in struct ctf_metadata: clocks, streams, events and the environment by name
 * or number. Streams are searched linearly, as a trace has few; events through a map. Both parsers
 * (tsdl.c, json.c) build the tables with these functions.
 */
#include "ingest/ctf/class.h"

#include "base/vec.h"

const struct ctf_clock *ctf_clock_find(const struct ctf_metadata *meta, struct weft_str name)
{
    for (size_t k = 0; k < meta->clocks.n; k++)
        if (weft_str_equal(meta->clocks.items[k].name, name))
            return &meta->clocks.items[k];
    return NULL;
}

const struct ctf_stream_class *ctf_stream_find(const struct ctf_metadata *meta, uint64_t id)
{
    for (size_t k = 0; k < meta->streams.n; k++)
        if (meta->streams.items[k].id == id)
            return &meta->streams.items[k];
    return NULL;
}

struct weft_str ctf_env_find(const struct ctf_metadata *meta, const char *key)
{
    for (size_t k = 0; k < meta->env.n; k++)
        if (weft_str_equal(meta->env.items[k].key, weft_str_of(key)))
            return meta->env.items[k].value;
    return WEFT_STR("");
}

struct ctf_stream_class *ctf_stream_add(struct ctf_metadata *meta, uint64_t id)
{
    for (size_t k = 0; k < meta->streams.n; k++)
        if (meta->streams.items[k].id == id)
            return &meta->streams.items[k];
    struct weft_map *event_of_id = weft_map_new();
    struct ctf_stream_class *stream = event_of_id ? WEFT_VEC_PUSH(&meta->streams) : NULL;
    if (!stream) {
        weft_map_free(event_of_id);
        return NULL;
    }
    stream->id = id;
    stream->event_of_id = event_of_id;
    return stream;
}

struct ctf_event_class *ctf_event_add(struct ctf_metadata *meta, struct ctf_stream_class *stream,
                                      uint64_t id, bool *is_new)
{
    const uint32_t index = weft_map_add(stream->event_of_id, id, is_new);
    if (index == WEFT_MAP_NONE)
        return NULL;
    if (!*is_new)
        return &stream->events.items[index];
    struct ctf_event_class *event = WEFT_VEC_PUSH(&stream->events);
    if (!event)
        return NULL;
    event->id = id;
    event->index = meta->n_events++;
    return event;
}
