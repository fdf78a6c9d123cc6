import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bytesPerHash } from './event-hash.ts';

const Seq = Type.Integer({ minimum: 0 });

const CheckpointHeadSchema = Type.Object({
  /** When EVENTS was made: a sequence means nothing in another stream of that name. */
  log: Type.String(),
  /** The checkpoint has the ids of every frame of its partition that stands in EVENTS from here to there. */
  from: Seq,
  to: Seq,
  /** A frame of EVENTS: while it is there, so is all that was written before it. Missing where no frame was written yet. */
  witness: Type.Optional(Type.Object({ seq: Seq, msgId: Type.String() })),
  /** Sequence of the oldest checkpoint that was needed when this one was written; missing where that is this one. */
  first: Type.Optional(Seq),
  /** Ids of all checkpoints that are needed. */
  ids: Seq,
  /** What the table that the checkpoints are of was allowed to hold. */
  windowMs: Type.Number(),
  idsMax: Type.Number(),
});

/** What a checkpoint says of itself. */
export type CheckpointHead = Static<typeof CheckpointHeadSchema>;

/** Packed hashes of events, and when they were recorded. */
export type IdRun = { readonly timeMs: number; readonly ids: Uint8Array };

/** The header of a checkpoint's message that holds its head, as JSON. */
export const checkpointHeader = 'Sluice-Checkpoint';

const headCheck = Compile(CheckpointHeadSchema);
/** A run begins with its time (a double) and how many ids it has (32 bits). */
const runHeadBytes = 12;

/** Reads the head; undefined when it is none this build can work on. */
export function parseCheckpointHead(text: string | undefined): CheckpointHead | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return headCheck.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function encodeCheckpointHead(head: CheckpointHead): string {
  return JSON.stringify(head);
}

/** The payload of a checkpoint: one run after the other. */
export function encodeRuns(runs: readonly IdRun[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(runs.reduce((sum, { ids }) => sum + runHeadBytes + ids.length, 0));
  let at = 0;
  for (const { timeMs, ids } of runs) {
    bytes.writeDoubleBE(timeMs, at);
    bytes.writeUInt32BE(ids.length / bytesPerHash, at + 8);
    bytes.set(ids, at + runHeadBytes);
    at += runHeadBytes + ids.length;
  }
  return bytes;
}

/** Reads the payload of a checkpoint; undefined when it is cut off or no payload of a checkpoint. */
export function decodeRuns(payload: Uint8Array): readonly IdRun[] | undefined {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
  const runs: IdRun[] = [];
  for (let at = 0; at < bytes.length;) {
    if (at + runHeadBytes > bytes.length) return undefined;
    const from = at + runHeadBytes;
    const to = from + bytes.readUInt32BE(at + 8) * bytesPerHash;
    if (to > bytes.length) return undefined;
    runs.push({ timeMs: bytes.readDoubleBE(at), ids: bytes.subarray(from, to) });
    at = to;
  }
  return runs;
}
