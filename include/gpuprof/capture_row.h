/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a capture's blocks, of the version that capture.h says.
 *
 * An integer is a varint: the number of trailing zero bits of its first byte is the number
 * of bytes that follow, the rest of the bits are the value, low bits first; a first byte of 0 is
 * followed by all 8 bytes. A text is a varint length, the bytes, and a NUL that length does not
 * count. A signed integer is zigzagged. A row begins with a tag byte:
 *
 *   GP_ROW_CALL set   a call in few bytes, no length, its grammar is fixed for this major:
 *                     tag [thread] [signature] gap [duration] [bytes] [stream] [seq]
 *   otherwise         tag, varint length, that many bytes: unknown tags and what is longer than
 *                     known can be skipped. They are rare, so their length costs nothing.
 *
 * Definitions take the numbers 0, 1, 2... of their dictionary in the order they are written, and
 * are forgotten at the block's end.
 *
 *   GP_TAG_FUNC       class two library:text name:text
 *   GP_TAG_THREAD     pid tid last_ns seq stream
 *   GP_TAG_SIGNATURE  kind flags func has dir result:signed grid*3 block*3 shared entity bytes
 *                     [stack]
 *   GP_TAG_WORK       kind has dir memory registers launch device context stream graph peers*2
 *                     grid*3 block*3 cluster*3 static dynamic executed local clusters named [name:text]
 *   GP_TAG_EVENT      kind thread mask, then the fields of the mask in the order of its bits
 *
 * A call row repeats what its signature says and continues what its thread did:
 *   signature  absent: the one that last followed this thread's previous signature
 *   start      thread.last_ns + gap (- gap with GP_ROW_BACK)
 *   end        start + duration; with GP_SIGNATURE_NO_END there is no duration and end is 0
 *   bytes      absent: as the last row of this signature
 *   stream     absent: as the last row of this thread
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
#define GP_TAG_SIGNATURE 4
#define GP_TAG_WORK 5
#define GP_TAG_END 0x80

/* Bits of a call row's tag. */
#define GP_ROW_CALL 0x80
#define GP_ROW_THREAD 0x40	/* not the thread of the call row before */
#define GP_ROW_SIGNATURE 0x20
#define GP_ROW_BYTES 0x10
#define GP_ROW_STREAM 0x08
#define GP_ROW_SEQ 0x04
#define GP_ROW_BACK 0x02
#define GP_ROW_RESERVED 0x01	/* always 0 in this major */

#define GP_SIGNATURE_NO_END 0x01

/* Mask of an event row: fields that are not 0 (texts: not NULL). Unknown bits are of fields that
 * follow the known ones. */
#define GP_FIELD_SEQ 0x0001
#define GP_FIELD_START 0x0002
#define GP_FIELD_END 0x0004	/* signed, less start */
#define GP_FIELD_RESULT 0x0008	/* signed */
#define GP_FIELD_HAS 0x0010
#define GP_FIELD_DIR 0x0020
#define GP_FIELD_FUNC 0x0040	/* number of the block's dictionary: calls, and sums of calls */
#define GP_FIELD_FUNC_RAW 0x0080	/* as it is: all other kinds, where it means nothing */
#define GP_FIELD_BYTES 0x0100
#define GP_FIELD_STREAM 0x0200
#define GP_FIELD_ENTITY 0x0400
#define GP_FIELD_SHAPE 0x0800	/* grid*3 block*3 shared */
#define GP_FIELD_TEXT 0x1000
#define GP_FIELD_TEXT2 0x2000
#define GP_FIELD_STACK 0x4000
#define GP_FIELD_WORK 0x8000	/* number of the block's GP_TAG_WORK, correlation node bytes error */
#define GP_FIELD_DEVICE 0x10000	/* eleven numbers, memory, uuid:text */
#define GP_FIELD_BLOCKED 0x20000	/* such a call has no row of its own, but an event row */
#define GP_FIELD_ADDRESS 0x40000	/* the same */
#define GP_FIELD_SAMPLE 0x80000	/* mask of enum sample_field, then those numbers in the order of its bits,
				 * a later version's too */
#define GP_FIELD_LATE 0x100000	/* late_ns after_late_ns; such a call has no row of its own either */
#define GP_FIELD_STOPPED 0x200000 /* the same instead, of a call that was stopped then */

#endif
