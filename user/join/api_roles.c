// SPDX-License-Identifier: BSD-3-Clause
/* Parts of names; the first that fits. */
#include "join/api_roles.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *part;
	uint8_t roles;
} parts[] = {
	{ "GraphLaunch", API_LAUNCH },
	{ "StreamBeginCapture", API_CAPTURE }, { "StreamBeginRecapture", API_CAPTURE },
	{ "StreamEndCapture", API_CAPTURED },
	{ "DeviceSynchronize", API_SYNC }, { "ThreadSynchronize", API_SYNC }, { "CtxSynchronize", API_SYNC },
	{ "Node", 0 }, { "HostFunc", 0 }, { "Attribute", 0 }, { "Graph", 0 },
	{ "Launch", API_LAUNCH | API_KERNEL }, { "Memcpy", API_LAUNCH },
	{ "Memset", API_LAUNCH },
};

static unsigned int roles_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i].part))
			return parts[i].roles;
	return 0;
}

static void fill(uint8_t roles[CBID_MAX], unsigned int domain)
{
	size_t n;
	const struct cbid *v = cbid_all(domain, &n);

	for (size_t i = 0; i < n; i++)
		roles[v[i].number] = (uint8_t)roles_of_name(v[i].name);
}

void api_roles_init(struct api_roles *r)
{
	memset(r, 0, sizeof(*r));
	fill(r->of[0], CBID_RUNTIME);
	fill(r->of[1], CBID_DRIVER);
}

unsigned int api_roles_get(const struct api_roles *r, const struct event *api)
{
	unsigned int roles = api->api.cbid < CBID_MAX ? r->of[api->api.domain == CBID_DRIVER][api->api.cbid] : 0;

	return api->api.result ? roles & API_CAPTURED : roles;
}
