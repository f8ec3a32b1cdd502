// SPDX-License-Identifier: BSD-3-Clause
/* A library with its own copy of NVTX (header only, as in the toolkit), as NCCL has. */
#include <nvtx3/nvToolsExt.h>

#include "ranges.h"

void ranges_part(void (*fn)(void))
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("part");
	nvtxEventAttributes_t attributes = { .version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_REGISTERED };

	attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	nvtxDomainRangePushEx(domain, &attributes);
	fn();
	nvtxDomainRangePop(domain);
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = "part's mark";
	nvtxDomainMarkEx(domain, &attributes);
}
