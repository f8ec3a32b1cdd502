/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a capture's blocks, of capture.h's version.
 *
 * An integer is a varint: the number of trailing zero bits of its first byte is the number
 * of bytes that follow, the rest of the bits are the value, low bits first; a first byte of 0 is
 * followed by all 8 bytes. A text is a varint length, the bytes, and a NUL that length does not
 * count. A signed integer is zigzagged. A row begins with a tag byte:
 *
 *   GP_ROW_CALL set   a call in few bytes, no length, its grammar is fixed for this major:
 *                     tag [thread] [shape] gap [duration] [bytes] [stream] [seq]
 *   otherwise         tag, varint length, that many bytes: unknown tags and what is longer than
 *                     known can be skipped. They are rare, so their length costs nothing.
 *
 * Definitions take the numbers 0, 1, 2... of their dictionary in the order they are written, and
 * are forgotten at the block's end.
 *
 *   GP_TAG_FUNC       class two library:text name:text
 *   GP_TAG_PROCESS    process pid: its handle, a number that the file gives to one process
 * alone and
 *                     to it in all blocks (0: no process), and its pid. EVENT_PROCESS has its birth
 *   GP_TAG_THREAD     process tid last_ns seq stream: the process's number in the block, and tid as
 *                     a signed integer, less its pid
 *   GP_TAG_SHAPE      kind flags func+1 (0: none) has mask, then the fields of the mask: what many
 *                     events of a kind have in common
 *   GP_TAG_EVENT      kind thread mask, then the fields of the mask in the order of its bits
 *
 * The mask of an event row has the header's fields in its low bits and, from GP_FIELD_FIRST on,
 * those of the kind's payload, as user/event/schema.c lists them; a shape's mask has those of the
 * payload alone, from bit 0 on. A field that is absent is 0, NULL or, with GP_FIELD_SHAPE, as in
 * the shape. Numbers of the schema are varints, signed ones zigzagged; a sample is a mask of enum
 * sample_field, then those values in the order of its bits.
 *
 * A call row repeats its shape and continues what its thread did:
 *   shape      absent: the one that last followed this thread's previous shape
 *   start      thread.last_ns + gap (- gap with GP_ROW_BACK)
 *   end        start + duration; with GP_SHAPE_NO_END there is no duration and end is 0
 *   bytes      absent: as the last call row of this shape; 0 before
 *   stream     absent: as the last call row of this thread
 *   seq        absent: the thread's last + 1
 * and then thread.last_ns becomes end (start where there is no end). All sums wrap at 2^64. Event
 * rows neither use nor change any of this.
 */
#ifndef GPUPROF_CAPTURE_ROW_H
#define GPUPROF_CAPTURE_ROW_H

/* Tags of rows with a length. */
#define GP_TAG_EVENT 1
#define GP_TAG_FUNC 2
#define GP_TAG_THREAD 3
#define GP_TAG_SHAPE 4
#define GP_TAG_PROCESS 5
#define GP_TAG_END 0x80

/* Bits of a call row's tag. */
#define GP_ROW_CALL 0x80
#define GP_ROW_THREAD 0x40	/* not the thread of the call row before */
#define GP_ROW_SHAPE 0x20
#define GP_ROW_BYTES 0x10
#define GP_ROW_STREAM 0x08
#define GP_ROW_SEQ 0x04
#define GP_ROW_BACK 0x02
#define GP_ROW_RESERVED 0x01	/* always 0 in this major */

#define GP_SHAPE_NO_END 0x01

/* Mask of an event row. Unknown bits are of fields that follow the known ones. */
#define GP_FIELD_SHAPE 0x01	/* its number: kind, func, has and its fields are as there */
#define GP_FIELD_START 0x02	/* signed, less the time of the kind's event row before: its start,
				 * or its end if it has no start; 0 at a block's beginning */
#define GP_FIELD_END 0x04	/* signed, less start; without a start as GP_FIELD_START */
#define GP_FIELD_HAS 0x08
#define GP_FIELD_FUNC 0x10	/* number of the block's dictionary; of each event of a function */
#define GP_FIELD_SEQ 0x20
#define GP_FIELD_FIRST 6	/* bit of the payload's first field */

#endif
