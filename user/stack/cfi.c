// SPDX-License-Identifier: BSD-3-Clause
/*
 * From an address to its FDE: by the sorted table of .eh_frame_hdr, or, without one, through
 * .eh_frame from its beginning. Then the CIE, then both programs (cfi_program.c).
 */
#include "stack/cfi.h"

#include <errno.h>

#include "stack/cfi_program.h"
#include "stack/cursor.h"

#define MAX_SCAN 65536u			/* entries of a .eh_frame without a table */
#define MAX_TABLE (1u << 26)		/* entries of a table */
#define TABLE_ENCODING (PE_DATAREL | PE_S4)	/* what every linker writes */

struct header {			/* of .eh_frame_hdr */
	uint64_t eh_frame;	/* its address; 0 unknown */
	uint64_t table;		/* address of the first entry; 0: there is none */
	uint64_t n;		/* entries: location and FDE, each 4 bytes from the header */
};

static int read_header(const struct stack_space *space, const struct stack_module *m,
		       struct header *h)
{
	uint8_t bytes[4 + 2 * 10];
	size_t len = m->eh_hdr_len < sizeof(bytes) ? (size_t)m->eh_hdr_len : sizeof(bytes);
	struct cursor c = { bytes, bytes + 4, bytes + len, m->eh_hdr, false };
	int err;

	*h = (struct header){ 0 };
	if (len < 4)
		return -EBADMSG;
	err = space->read(space->ctx, m->eh_hdr, bytes, len);
	if (err)
		return err;
	if (bytes[0] != 1)
		return -EBADMSG;
	if (bytes[1] != PE_OMIT)
		h->eh_frame = cursor_pointer(&c, bytes[1], m->eh_hdr);
	if (bytes[2] == PE_OMIT || bytes[3] != TABLE_ENCODING)
		return c.bad ? -EBADMSG : 0;
	h->n = cursor_pointer(&c, bytes[2], m->eh_hdr);
	h->table = cursor_address(&c);
	if (c.bad || h->n > MAX_TABLE || h->n * 8 > m->eh_hdr_len - (h->table - m->eh_hdr))
		return -EBADMSG;
	return 0;
}

/* The FDE of the last entry at or below pc. */
static int search_table(const struct stack_space *space, const struct stack_module *m,
			const struct header *h, uint64_t pc, uint64_t *fde)
{
	uint64_t low = 0, high = h->n;
	int32_t entry[2];
	int err;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		err = space->read(space->ctx, h->table + middle * 8, entry, sizeof(entry));
		if (err)
			return err;
		if (m->eh_hdr + (uint64_t)(int64_t)entry[0] > pc)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return -ENOENT;
	err = space->read(space->ctx, h->table + (low - 1) * 8, entry, sizeof(entry));
	*fde = m->eh_hdr + (uint64_t)(int64_t)entry[1];
	return err;
}

/* ---- entries ------------------------------------------------------------------------------ */

/* Reads the entry at `at` into buf (CFI_MAX_ENTRY bytes); the cursor stands behind its length. */
static int read_entry(const struct stack_space *space, uint64_t at, uint8_t *buf, struct cursor *c)
{
	uint32_t short_len;
	uint64_t len;
	int err = space->read(space->ctx, at, &short_len, sizeof(short_len));

	if (err)
		return err;
	at += sizeof(short_len);
	len = short_len;
	if (short_len == UINT32_MAX) {
		err = space->read(space->ctx, at, &len, sizeof(len));
		if (err)
			return err;
		at += sizeof(len);
	}
	if (!len)
		return -ENOENT;		/* the mark of the end */
	if (len > CFI_MAX_ENTRY)
		return -EBADMSG;
	err = space->read(space->ctx, at, buf, (size_t)len);
	*c = (struct cursor){ buf, buf, buf + len, at, false };
	return err;
}

static void read_augmentation(struct cfi *cfi, struct cursor *c, const char *text,
			      struct cfi_program *p)
{
	uint64_t len = cursor_uleb(c);
	const uint8_t *at = cursor_take(c, len);
	struct cursor data = { c->start, at, at ? at + len : at, c->address, !at };

	for (; *text && !data.bad; text++) {
		if (*text == 'R')
			p->encoding = (uint8_t)cursor_unsigned(&data, 1);
		else if (*text == 'S')
			cfi->signal = true;
		else if (*text == 'L')
			cursor_unsigned(&data, 1);
		else if (*text == 'P')
			cursor_pointer(&data, (uint8_t)cursor_unsigned(&data, 1) & 0x7f, 0);
		else if (*text != 'B' && *text != 'G')
			return;		/* unknown: its data ends where the length says */
	}
}

static int read_cie(struct cfi *cfi, uint64_t at, struct cfi_program *p)
{
	struct cursor c;
	const char *text;
	const uint8_t *end;
	uint8_t version;
	int err = read_entry(cfi->space, at, cfi->cie, &c);

	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	if (cursor_unsigned(&c, 4))	/* not 0: an FDE */
		return -EBADMSG;
	version = (uint8_t)cursor_unsigned(&c, 1);
	text = (const char *)c.at;
	end = memchr(c.at, 0, (size_t)(c.end - c.at));
	if (!end || (version != 1 && version != 3 && version != 4))
		return -EBADMSG;
	c.at = end + 1;
	if (version == 4)
		cursor_take(&c, 2);	/* sizes of addresses and segment selectors */
	p->code_factor = cursor_uleb(&c);
	p->data_factor = cursor_sleb(&c);
	cfi->ra = (uint8_t)(version == 1 ? cursor_unsigned(&c, 1) : cursor_uleb(&c));
	cfi->signal = false;
	p->encoding = PE_ABSPTR;
	p->augmented = *text == 'z';
	if (p->augmented)
		read_augmentation(cfi, &c, text + 1, p);
	else if (*text)
		return -EBADMSG;	/* "eh" of compilers of the last century */
	p->common = c;
	return c.bad || cfi->ra >= CFI_COLUMNS ? -EBADMSG : 0;
}

/* Reads FDE and CIE; -ENOENT: the FDE does not cover pc. next: where the next entry begins. */
static int read_fde(struct cfi *cfi, uint64_t at, uint64_t pc, struct cfi_program *p,
		    uint64_t *next)
{
	struct cursor c;
	uint64_t cie, begin, len;
	uint32_t back;
	int err = read_entry(cfi->space, at, cfi->fde, &c);

	if (err)
		return err;
	*next = c.address + (uint64_t)(c.end - c.start);
	cie = cursor_address(&c);
	back = (uint32_t)cursor_unsigned(&c, 4);
	if (!back)
		return -ENOENT;		/* a CIE */
	err = read_cie(cfi, cie - back, p);
	if (err)
		return err;
	begin = cursor_pointer(&c, p->encoding & 0x7f, 0);
	len = cursor_pointer(&c, p->encoding & 0x0f, 0);
	if (p->augmented)
		cursor_take(&c, cursor_uleb(&c));
	if (c.bad || p->encoding & PE_INDIRECT)
		return -EBADMSG;
	if (pc < begin || pc - begin >= len)
		return -ENOENT;
	p->begin = begin;
	p->own = c;
	return 0;
}

static int scan_entries(struct cfi *cfi, uint64_t at, uint64_t pc, struct cfi_program *p)
{
	for (unsigned int i = 0; i < MAX_SCAN; i++) {
		uint64_t next = 0;
		int err = read_fde(cfi, at, pc, p, &next);

		if (err != -ENOENT || !next)
			return err;
		at = next;
	}
	return -ENOENT;
}

int cfi_find(struct cfi *cfi, const struct stack_module *m, uint64_t pc, struct cfi_row *row)
{
	struct cfi_program p = { .pc = pc };
	struct header h = { .eh_frame = m->eh_frame };
	uint64_t fde, next;
	int err = m->eh_hdr ? read_header(cfi->space, m, &h) : 0;

	if (err)
		return err;
	if (h.table) {
		err = search_table(cfi->space, m, &h, pc, &fde);
		if (!err)
			err = read_fde(cfi, fde, pc, &p, &next);
	} else {
		err = h.eh_frame ? scan_entries(cfi, h.eh_frame, pc, &p) : -ENOENT;
	}
	return err ? err : cfi_run(&p, row);
}
