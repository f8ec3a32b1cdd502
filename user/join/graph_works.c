// SPDX-License-Identifier: BSD-3-Clause
/* A list of launches, nearly by time; nodes come nearly in order, again and again. */
#include "join/graph_works.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/sorted.h"

#define AHEAD_MAX 1024		/* launches that are looked at for the next one of a graph */
#define GONE_MIN 64		/* fewer are not worth moving the others */

void graph_works_free(struct graph_works *g, struct join_room *room)
{
	for (size_t i = 0; i < g->graphs.n; i++) {
		room->graph_nodes_left += g->graphs.v[i].nodes.n;
		VEC_FREE(&g->graphs.v[i].nodes);
	}
	room->graph_launches_left += g->launches.n - g->gone;
	map_free(&g->by_number);
	VEC_FREE(&g->graphs);
	VEC_FREE(&g->launches);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* NULL with *err 0: there are too many. */
static struct graph_works_graph *find_graph(struct graph_works *g, uint32_t number, uint32_t *index,
					    int *err)
{
	struct map_slot *slot = map_find(&g->by_number, number);

	*err = 0;
	if (!slot && g->graphs.n >= GRAPH_WORKS_GRAPHS_MAX)
		return NULL;
	if (!slot) {
		slot = map_put(&g->by_number, number, NULL);
		if (!slot || !VEC_PUSH(&g->graphs)) {
			map_del(&g->by_number, number);
			*err = -ENOMEM;
			return NULL;
		}
		slot->value = g->graphs.n;
	}
	*index = (uint32_t)slot->value - 1;
	return &g->graphs.v[*index];
}

static int note_node(struct graph_works_graph *graph, struct join_room *room, uint64_t id,
		     uint64_t launch)
{
	const size_t n = graph->nodes.n;
	struct graph_works_node *v = graph->nodes.v;
	size_t at = n && id - v[0].id < n && v[id - v[0].id].id == id ? id - v[0].id :
		    SORTED_BELOW(v, n, id, id);

	if (at < n && v[at].id == id) {
		graph->varies |= launch && v[at].launch == launch;
		v[at].launch = launch;
		return 0;
	}
	if (!room->graph_nodes_left)
		return 0;
	if (!VEC_PUSH(&graph->nodes))
		return -ENOMEM;
	room->graph_nodes_left--;
	v = graph->nodes.v;
	memmove(&v[at + 1], &v[at], (n - at) * sizeof(v[0]));
	v[at] = (struct graph_works_node){ .id = id, .launch = launch };
	return 0;
}

static uint32_t works_of(const struct graph_works_graph *graph)
{
	return (uint32_t)num_max(graph->nodes.n, graph->most);
}

static uint32_t lacking(const struct graph_works *g, const struct graph_works_launch *l)
{
	const uint32_t all = works_of(&g->graphs.v[l->graph]);

	return all > l->works ? all - l->works : 0;
}

/* ---- the end of waiting ---------------------------------------------------------------------- */

/* When the next launch of its graph gave its first work, else its own last one's end. */
static uint64_t next_began(const struct graph_works *g, size_t at)
{
	const struct graph_works_launch *l = &g->launches.v[at];
	const size_t end = num_min(g->launches.n, at + AHEAD_MAX);
	const uint64_t known = num_max(l->used_ns, l->end_ns);

	for (size_t i = at + 1; i < end; i++) {
		const struct graph_works_launch *next = &g->launches.v[i];

		if (next->graph == l->graph && next->start_ns >= l->end_ns)
			return num_max(next->began_ns, known);
	}
	return known;
}

static int judge_first(struct graph_works *g, struct join_room *room,
		       const struct graph_works_judge *judge)
{
	const struct graph_works_launch *l = &g->launches.v[g->gone];
	const struct graph_works_graph *graph = &g->graphs.v[l->graph];
	struct graph_works_lack lack = { .works = lacking(g, l), .varies = graph->varies,
					 .start_ns = l->start_ns };
	int said = 0;

	if (lack.works) {
		lack.is_over = (graph->came_ns >= l->end_ns && graph->came_ns > l->start_ns) ||
			       (!g->several && judge->has_waited(judge->ctx, l, g->context));
		lack.end_ns = next_began(g, g->gone);
		said = judge->lacks(judge->ctx, &lack);
		g->lenient |= said == 1;
	}
	g->gone++;
	room->graph_launches_left++;
	return said < 0 ? said : 0;
}

static void move_up(struct graph_works *g)
{
	if (g->gone < GONE_MIN || g->gone < g->launches.n / 2)
		return;
	VEC_DROP_FIRST(&g->launches, g->gone);
	g->first += g->gone;
	g->gone = 0;
}

static bool is_waited_for(const struct graph_works *g, const struct graph_works_launch *l)
{
	return !g->lenient && !g->graphs.v[l->graph].varies && lacking(g, l);
}

int graph_works_decide(struct graph_works *g, struct join_room *room, uint64_t floor_ns,
		       const struct graph_works_judge *judge, uint64_t *first_ns)
{
	size_t at;
	int err = 0;

	*first_ns = UINT64_MAX;
	while (!err && g->gone < g->launches.n && g->launches.v[g->gone].start_ns < floor_ns)
		err = judge_first(g, room, judge);
	move_up(g);
	at = num_max(g->open, g->first + g->gone) - g->first;
	while (at < g->launches.n && !is_waited_for(g, &g->launches.v[at]))
		at++;
	g->open = g->first + at;
	if (at < g->launches.n)
		*first_ns = g->launches.v[at].start_ns;
	return err;
}

void graph_works_exec(struct graph_works *g)
{
	map_clear(&g->by_number);
}

/* ---- what comes ------------------------------------------------------------------------------ */

static int add_launch(struct graph_works *g, struct join_room *room, const struct launch *launch,
		      uint32_t graph, const struct graph_works_judge *judge)
{
	struct graph_works_launch *l;
	int err = 0;

	if (!room->graph_launches_left && g->gone < g->launches.n)
		err = judge_first(g, room, judge);
	if (err)
		return err;
	move_up(g);
	l = VEC_PUSH(&g->launches);
	if (!l)
		return -ENOMEM;
	room->graph_launches_left--;
	*l = (struct graph_works_launch){ .start_ns = launch->start_ns, .end_ns = launch->end_ns,
					  .began_ns = UINT64_MAX, .tid = launch->tid, .graph = graph };
	return 0;
}

static void note_context(struct graph_works *g, uint32_t context)
{
	g->several |= g->has_context && g->context != context;
	g->has_context = true;
	g->context = context;
}

static bool is_of_graph(const struct work *w)
{
	return w->has & WORK_HAS_GRAPH && w->graph && w->graph_node && w->kind != WORK_KIND_GRAPH;
}

static void note_work(struct graph_works *g, struct graph_works_launch *l, uint32_t graph,
		      const struct event *work)
{
	l->works++;
	l->began_ns = num_min(l->began_ns, work->start_ns);
	l->used_ns = num_max(l->used_ns, work->end_ns);
	g->graphs.v[graph].most = (uint32_t)num_max(g->graphs.v[graph].most, l->works);
	if (l->graph != graph)		/* one of several that one launch runs */
		g->graphs.v[graph].varies = g->graphs.v[l->graph].varies = true;
}

int graph_works_note(struct graph_works *g, struct join_room *room, const struct launch *launch,
		     uint64_t *number, const struct event *work, const struct graph_works_judge *judge)
{
	struct graph_works_graph *of;
	uint32_t graph;
	int err;

	if (!is_of_graph(work->work))
		return 0;
	of = find_graph(g, work->work->graph, &graph, &err);
	if (!of)
		return err;
	if (!*number && (room->graph_launches_left || g->gone < g->launches.n)) {
		err = add_launch(g, room, launch, graph, judge);
		*number = g->first + g->launches.n;
	}
	of->came_ns = num_max(of->came_ns, launch->start_ns);
	note_context(g, work->work->context);
	if (!err && *number > g->first + g->gone)
		note_work(g, &g->launches.v[*number - g->first - 1], graph, work);
	return err ? err : note_node(of, room, work->work->graph_node, *number);
}
