import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

const count = Type.Integer({ minimum: 0 });

const threadReport = Type.Object({
  thread: count,
  isReady: Type.Boolean(),
  /** Since it last said how it does. */
  silentMs: count,
  heapUsedBytes: count,
  /** Share of the last second its event loop was busy, 0 to 1. */
  utilization: Type.Number({ minimum: 0 }),
  /** How late its event loop was in the last second, in ms. */
  delayP99Ms: Type.Number({ minimum: 0 }),
  isLogConnected: Type.Boolean(),
});

const actorReport = Type.Object({
  kind: Type.String(),
  /** A partition or the id of a destination or an account, as its kind has it. */
  key: Type.String(),
  /** Absent where no thread has it. */
  thread: Type.Optional(count),
  state: Type.String(),
  failuresInARow: count,
});

const workReport = Type.Object({
  v: Type.Literal(1),
  threads: Type.Array(threadReport),
  /** Those that are not at work come first. */
  actors: Type.Array(actorReport),
  /** Entries that it has and leaves out. */
  actorsMore: count,
});

/** What a pipeline runs, and where: reported in the LEASES bucket, which drops it where it is not renewed. */
export type WorkReport = Static<typeof workReport>;
export type ThreadReport = Static<typeof threadReport>;
export type ActorReport = Static<typeof actorReport>;

export const workKey = (instanceId: string): string => `work.${assertId(instanceId)}`;
export const allWork = 'work.*';

const isWork = Compile(workReport);

export function encodeWorkReport(report: WorkReport): Uint8Array {
  return encodeJson(report);
}

/** Undefined when it is none this build knows. */
export function decodeWorkReport(bytes: Uint8Array | undefined): WorkReport | undefined {
  const report = decodeJson(bytes);
  return isWork.Check(report) ? report : undefined;
}
