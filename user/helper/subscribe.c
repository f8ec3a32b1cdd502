// SPDX-License-Identifier: BSD-3-Clause
/*
 * The callback runs on the application's threads, inside the calls that make graphs: no lock, no
 * allocation, one record.
 */
#include "helper/subscribe.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpuprof/work.h"
#include "helper/clock.h"
#include "helper/occupant.h"

static struct subscription {
	struct helper_ring *ring;
	const struct cupti *cupti;
	void *subscriber;
	bool held;
	bool wanted;		/* as it was told last */
	bool without;		/* it is wanted and not to be had */
	bool forgotten;		/* in a forked child */
} subscription;

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource *resource = data;
	struct subscription *s = ctx;
	struct gp_ring_node node = { .time_ns = clock_now_ns() };

	if (s->forgotten || domain != CUPTI_DOMAIN_RESOURCE || !resource || !resource->graph ||
	    s->cupti->node_id(resource->graph->node, &node.node))
		return;
	if (cbid == CUPTI_NODE_CLONED &&
	    (s->cupti->node_id(resource->graph->original, &node.original) || !node.original))
		return;
	node.tid = (uint32_t)syscall(SYS_gettid);
	helper_ring_send(s->ring, GP_RING_NODE, &node, sizeof(node));
}

void subscribe_open(struct helper_ring *r)
{
	subscription = (struct subscription){ .ring = r };
}

/* Why it is not to be had, for people. */
static void say(const char *what, const char *why)
{
	struct gp_ring_head *head = subscription.ring->head;

	snprintf(head->unsubscribed, sizeof(head->unsubscribed), "%s%s%s", what, *why ? ": " : "", why);
}

static void say_code(const struct cupti *c, const char *what, int code)
{
	const char *text = "";

	if (c->result_string && c->result_string(code, &text))
		text = "";
	say(what, text);
}

static const char *who_may_come(const struct cupti *c)
{
	const char *name = occupant_to_come();

	return name ? name : c->was_mapped ? "what has loaded libcupti" : NULL;
}

static void release(const struct cupti *c)
{
	if (subscription.held)
		c->unsubscribe(subscription.subscriber);
	subscription.held = false;
	__atomic_store_n(&subscription.ring->head->subscribed_ns, 0, __ATOMIC_RELAXED);
}

/* Without all of what it is for it is not kept. */
static void take(const struct cupti *c)
{
	static const uint32_t wanted[] = { CUPTI_NODE_CREATED, CUPTI_NODE_CLONED };
	int code;

	if (!c->subscribe || !c->unsubscribe || !c->enable_callback || !c->node_id) {
		say("this CUPTI has no callbacks for graphs", "");
		return;
	}
	subscription.cupti = c;
	code = c->subscribe(&subscription.subscriber, on_callback, &subscription);
	if (code) {
		say_code(c, "cuptiSubscribe failed", code);
		return;
	}
	subscription.held = true;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !code; i++)
		code = c->enable_callback(1, subscription.subscriber, CUPTI_DOMAIN_RESOURCE, wanted[i]);
	if (code) {
		say_code(c, "cuptiEnableCallback failed", code);
		release(c);
		return;
	}
	*subscription.ring->head->unsubscribed = '\0';
	__atomic_store_n(&subscription.ring->head->subscribed_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

void subscribe_follow(const struct cupti *c, bool wanted)
{
	const char *who = wanted && !subscription.without ? who_may_come(c) : NULL;

	if (wanted && !subscription.wanted)
		*subscription.ring->head->unsubscribed = '\0';
	subscription.wanted = wanted;
	if (!wanted || who)
		release(c);
	if (who)
		say("CUPTI is left free for another client", who);
	else if (wanted && !subscription.held && !subscription.without)
		take(c);
	subscription.without = wanted && !subscription.held;
}

bool subscribe_is_held(void)
{
	return subscription.held;
}

void subscribe_forget(void)
{
	subscription.forgotten = true;
	subscription.held = false;
}
