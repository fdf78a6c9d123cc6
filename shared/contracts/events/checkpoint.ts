import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bytesPerHash } from './event-hash.ts';

const Seq = Type.Integer({ minimum: 0 });

const CheckpointHeadSchema = Type.Object({
  /** Creation time of EVENTS: its sequences mean nothing in another stream with the same name. */
  log: Type.String(),
  /** The checkpoint has the ids of the partition's frames in EVENTS from sequence `from` to sequence `to`. */
  from: Seq,
  to: Seq,
  /** A frame of EVENTS: while it exists, the log has lost no frame before it. Missing if no frame was written yet. */
  witness: Type.Optional(Type.Object({ seq: Seq, msgId: Type.String() })),
  /** Sequence of the oldest checkpoint that was needed when this one was written; missing if this one is the oldest. */
  first: Type.Optional(Seq),
  /** Number of ids in all checkpoints that are needed. */
  ids: Seq,
  /** Time window of the deduplication table that the checkpoints belong to, in ms. */
  windowMs: Type.Number(),
  idsMax: Type.Number(),
  /** See `Deduplication.ungroupedUntilMs`. Missing in checkpoints of earlier builds, all of whose ids have no group. */
  ungroupedUntilMs: Type.Optional(Type.Number()),
});

/** What a checkpoint covers, and what must hold for it to be used. */
export type CheckpointHead = Static<typeof CheckpointHeadSchema>;

/** Packed hashes of events that share a time. */
export type IdRun = { readonly timeMs: number; readonly ids: Uint8Array };

/** The message header that contains the head of a checkpoint as JSON. */
export const checkpointHeader = 'Sluice-Checkpoint';

const headCheck = Compile(CheckpointHeadSchema);
/** A run begins with its time (a double) and its number of ids (32 bits). */
const runHeadBytes = 12;

/** Reads the head of a checkpoint; undefined if this build cannot use it. */
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

/** The payload of a checkpoint: its runs, concatenated. */
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

/** Reads the payload of a checkpoint; undefined if it is cut off or has another format. */
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
