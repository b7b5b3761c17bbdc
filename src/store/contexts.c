/* SPDX-License-Identifier: MIT
 *
 * Trees as bytes, from a block's rows, and of groups.
 */
#include "store/contexts.h"

#include "base/vec.h"

#include <inttypes.h>

/* Contexts of a block that has more than one in so many rows would be omitted in the end. Those of
 * a group are bounded for the sake of memory. */
enum { ROWS_A_CONTEXT = 8, FEW_CONTEXTS = 64, MAX_CONTEXTS = 1 << 15 };

/* ---- bytes ----------------------------------------------------------------------------------- */

bool weft_contexts_put(const struct weft_context_tree *tree, struct weft_bytes *bytes)
{
    uint32_t *order = malloc(2 * tree->n * sizeof *order);
    uint32_t *depth = order ? order + tree->n : NULL;
    if (!order || !weft_context_tree_order(tree, order, depth)) {
        free(order);
        bytes->has_failed = true;
        return false;
    }
    weft_bytes_put_varint(bytes, tree->n - 1);
    weft_bytes_put_varint(bytes, tree->nodes[tree->root].self_ns);
    for (size_t i = 1; i < tree->n; i++) {
        const struct weft_context *node = &tree->nodes[order[i]];
        weft_bytes_put_varint(bytes, depth[i - 1] + 1 - depth[i]);
        weft_bytes_put_varint(bytes, node->function);
        weft_bytes_put_varint(bytes, node->count);
        weft_bytes_put_varint(bytes, node->self_ns);
    }
    free(order);
    return !bytes->has_failed;
}

/* What is read into. */
struct reading {
    struct weft_context_tree *into;
    struct weft_contexts_stack *stack;
    struct weft_context_entries *entries;
    struct weft_contexts_sum *sum;
};

/* One node; the stack ends with its parent or a descendant of that, and has room. */
static enum weft_code node_read(struct weft_cursor *in, weft_contexts_function_fn function_of,
                                const void *context, const struct reading *reading,
                                struct weft_err *err)
{
    struct weft_contexts_stack *stack = reading->stack;
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_left = weft_cur_varint(in);
    const uint64_t key = weft_cur_varint_any(in);
    const uint64_t count = weft_cur_varint_any(in);
    const uint64_t self_ns = weft_cur_varint_any(in);
    const uint32_t function =
        in->fault || key > UINT32_MAX ? WEFT_ID_NONE : function_of(context, (uint32_t)key);
    if (function == WEFT_ID_NONE || n_left >= stack->n)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected a context of a known function below one of %zu, found key "
                         "%" PRIu64 ", %" PRIu64 " levels up",
                         stack->n, key, n_left);
    stack->n -= (size_t)n_left;
    const uint32_t node =
        weft_context_any_child(reading->into, stack->items[stack->n - 1], function);
    if (node == WEFT_ID_NONE)
        return weft_no_memory(err, "a tree of contexts");
    stack->items[stack->n++] = node;
    reading->entries->items[reading->entries->n++] =
        (struct weft_context_entry){ count, self_ns, node };
    reading->sum->count += count;
    reading->sum->self_ns += self_ns;
    return WEFT_OK;
}

enum weft_code weft_contexts_read(struct weft_cursor *in, weft_contexts_function_fn function_of,
                                  const void *context, struct weft_context_tree *into, uint32_t at,
                                  struct weft_contexts_stack *stack,
                                  struct weft_context_entries *entries,
                                  struct weft_contexts_sum *sum, struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_nodes = weft_cur_varint(in);
    const uint64_t self_ns = weft_cur_varint(in);
    if (in->fault || n_nodes > weft_cur_left(in) / 4)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected at most %zu contexts, found %" PRIu64, weft_cur_left(in) / 4,
                         n_nodes);
    if (!weft_vec_reserve(&stack->items, &stack->cap, (size_t)n_nodes + 1, sizeof *stack->items) ||
        !weft_vec_reserve(&entries->items, &entries->cap, entries->n + (size_t)n_nodes + 1,
                          sizeof *entries->items))
        return weft_no_memory(err, "a tree of contexts");
    stack->items[0] = at;
    stack->n = 1;
    entries->items[entries->n++] = (struct weft_context_entry){ 0, self_ns, at };
    *sum = (struct weft_contexts_sum){ .self_ns = self_ns };
    const struct reading reading = { into, stack, entries, sum };
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < n_nodes && code == WEFT_OK; i++)
        code = node_read(in, function_of, context, &reading, err);
    return code;
}

/* ---- a block's tree -------------------------------------------------------------------------- */

/* Values of a plane and its escapes, as the builder holds them. */
struct times {
    const uint8_t *plane, *ext;
};

static inline uint64_t take_time(struct times *times)
{
    const uint8_t value = *times->plane++;
    if (__builtin_expect(value < WEFT_TIME_ESCAPE_2, 1))
        return value;
    const uint8_t *bytes = times->ext;
    times->ext += weft_time_escape_bytes(value);
    return weft_time_escape(value, bytes);
}

/* Contexts by depth; at[0] is the root. */
struct stack {
    struct weft_context_tree *tree;
    uint32_t *at;
    size_t depth;
    const uint32_t *cut_keys; /* of the cut frames still to end */
    size_t n_max;             /* more contexts are not worth keeping */
    bool is_over;             /* there are more: the tree is left as it is */
    struct weft_lod_walk *lod;
};

static bool stack_cut(struct stack *stack)
{
    const bool is_ok = weft_context_tree_raise(stack->tree, *stack->cut_keys++);
    stack->at[0] = stack->tree->root;
    return is_ok;
}

static inline bool stack_exit(struct stack *stack, struct weft_lod_hot *hot, uint64_t delta_ns)
{
    if (__builtin_expect(!stack->is_over, 1))
        stack->tree->nodes[stack->at[stack->depth]].self_ns += delta_ns;
    if (__builtin_expect(stack->depth > 0, 1)) {
        weft_lod_exit(stack->lod, hot, --stack->depth, delta_ns);
        return true;
    }
    hot->now_ns += delta_ns;
    hot->n_cut++;
    return stack_cut(stack);
}

static inline bool stack_enter(struct stack *stack, struct weft_lod_hot *hot, uint64_t delta_ns,
                               uint32_t function, uint32_t key)
{
    weft_lod_enter(stack->lod, hot, stack->depth, delta_ns, function);
    const uint32_t parent = stack->at[stack->depth++];
    if (__builtin_expect(stack->is_over, 0))
        return true;
    stack->tree->nodes[parent].self_ns += delta_ns;
    const uint32_t node = weft_context_child(stack->tree, parent, key);
    if (__builtin_expect(node == WEFT_ID_NONE, 0))
        return false;
    stack->tree->nodes[node].count++;
    stack->at[stack->depth] = node;
    stack->is_over = stack->tree->n > stack->n_max;
    return true;
}

static bool walk_rows(struct stack *stack, const struct weft_block_head *head,
                      const struct weft_block_rows *rows)
{
    struct times gap = { rows->gap, rows->gap_ext.items };
    struct times tail = { rows->tail, rows->tail_ext.items };
    struct weft_cursor more = weft_cur_init(rows->pops_ext.items, rows->pops_ext.n, 0);
    struct weft_lod_hot hot = stack->lod->hot;
    uint32_t n_exits = head->n_exits;
    for (uint32_t row = 0; row < head->n_rows; row++) {
        uint32_t pops = rows->pops[row];
        if (__builtin_expect(pops == WEFT_FORMAT_POPS_ESCAPE, 0))
            pops += (uint32_t)weft_cur_varint(&more);
        n_exits -= pops;
        for (; pops > 0; pops--)
            if (!stack_exit(stack, &hot, take_time(&tail)))
                return false;
        const uint32_t function = rows->function[row];
        if (!stack_enter(stack, &hot, take_time(&gap), function, rows->keys[function]))
            return false;
    }
    for (; n_exits > 0; n_exits--)
        if (!stack_exit(stack, &hot, take_time(&tail)))
            return false;
    return !stack->lod->has_failed;
}

/* The contexts of the calls that are open when the block begins. */
static bool open_stack(struct stack *stack, const struct weft_context_walk *walk)
{
    stack->at[0] = walk->tree.root;
    for (; stack->depth < walk->open.n; stack->depth++) {
        const uint32_t node = weft_context_child(stack->tree, stack->at[stack->depth],
                                                 walk->open.items[stack->depth]);
        if (node == WEFT_ID_NONE)
            return false;
        stack->at[stack->depth + 1] = node;
    }
    return true;
}

bool weft_context_walk_block(struct weft_context_walk *walk, const struct weft_block_head *head,
                             const struct weft_block_rows *rows, const uint32_t *cut_keys,
                             struct weft_lod_walk *lod)
{
    const size_t n_stack = walk->open.n + head->n_rows + 1;
    if (!weft_context_tree_reset(&walk->tree) ||
        !weft_vec_reserve(&walk->stack.items, &walk->stack.cap, n_stack, sizeof *walk->stack.items))
        return false;
    struct stack stack = {
        .tree = &walk->tree,
        .at = walk->stack.items,
        .cut_keys = cut_keys,
        .n_max = walk->open.n + head->n_rows / ROWS_A_CONTEXT + FEW_CONTEXTS,
        .lod = lod,
    };
    if (!open_stack(&stack, walk))
        return false;
    if (walk->has_block)
        walk->tree.nodes[stack.at[stack.depth]].self_ns += head->first_event_ns - walk->last_ns;
    if (!walk_rows(&stack, head, rows))
        return false;
    walk->last_ns = head->last_ns;
    walk->has_block = true;
    walk->is_known = walk->tree.n <= stack.n_max;
    return true;
}

void weft_context_walk_start(struct weft_context_walk *walk)
{
    walk->open.n = 0;
    walk->has_block = false;
}

void weft_context_walk_fini(struct weft_context_walk *walk)
{
    weft_context_tree_fini(&walk->tree);
    WEFT_VEC_FINI(&walk->open);
    WEFT_VEC_FINI(&walk->stack);
}

/* ---- groups ---------------------------------------------------------------------------------- */

void weft_context_groups_start(struct weft_context_groups *groups)
{
    for (size_t i = 0; i < WEFT_CONTEXT_LEVELS; i++)
        groups->levels[i].n_members = 0;
    groups->entries.n = 0;
}

void weft_context_groups_fini(struct weft_context_groups *groups)
{
    for (size_t i = 0; i < WEFT_CONTEXT_LEVELS; i++)
        weft_context_tree_fini(&groups->levels[i].tree);
    weft_bytes_fini(&groups->entries);
    weft_bytes_fini(&groups->scratch);
}

/* Writes a full group, unless it would make the index too large for what it saves. */
static bool group_put(struct weft_context_groups *groups, size_t index)
{
    const struct weft_context_level *level = &groups->levels[index];
    struct weft_bytes *scratch = &groups->scratch;
    scratch->n = 0;
    if (!level->is_broken && !weft_contexts_put(&level->tree, scratch))
        return false;
    if (scratch->n > weft_contexts_limit((unsigned)index + 1, level->block_bytes))
        scratch->n = 0;
    weft_bytes_put_varint(&groups->entries, scratch->n);
    weft_bytes_put(&groups->entries, scratch->items, scratch->n);
    return !groups->entries.has_failed;
}

static bool is_growing(const struct weft_context_level *level)
{
    return level->n_members > 0 && !level->is_broken;
}

/* Adds a block or a group of the level below; NULL: not known. */
static bool member_add(struct weft_context_level *level, const struct weft_context_tree *tree,
                       uint64_t block_bytes)
{
    if (level->n_members == 0) {
        level->is_broken = false;
        level->block_bytes = 0;
        if (!weft_context_tree_reset(&level->tree))
            return false;
    }
    level->block_bytes += block_bytes;
    if (!tree || level->tree.n > MAX_CONTEXTS)
        level->is_broken = true;
    return level->is_broken || weft_context_tree_add(&level->tree, level->tree.root, tree);
}

bool weft_context_groups_add(struct weft_context_groups *groups,
                             const struct weft_context_tree *tree, const uint32_t *cut_keys,
                             size_t n_cut, uint64_t block_bytes)
{
    for (size_t i = 0; i < WEFT_CONTEXT_LEVELS; i++)
        for (size_t k = 0; is_growing(&groups->levels[i]) && k < n_cut; k++)
            if (!weft_context_tree_raise(&groups->levels[i].tree, cut_keys[k]))
                return false;
    for (size_t i = 0; i < WEFT_CONTEXT_LEVELS; i++) {
        struct weft_context_level *level = &groups->levels[i];
        if (!member_add(level, tree, block_bytes))
            return false;
        if (++level->n_members < WEFT_CONTEXT_GROUP)
            return true;
        if (!group_put(groups, i))
            return false;
        level->n_members = 0;
        tree = level->is_broken ? NULL : &level->tree;
        block_bytes = level->block_bytes;
    }
    return true;
}
