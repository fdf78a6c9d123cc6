import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

const count = Type.Integer({ minimum: 0 });

const threadReport = Type.Object({
  thread: count,
  isReady: Type.Boolean(),
  /** Time since the thread's last report, in ms. */
  silentMs: count,
  heapUsedBytes: count,
  /** Fraction of the last second in which the thread's event loop was busy, 0 to 1. */
  utilization: Type.Number({ minimum: 0 }),
  /** 99th percentile of the delay of the thread's event loop in the last second, in ms. */
  delayP99Ms: Type.Number({ minimum: 0 }),
  isLogConnected: Type.Boolean(),
});

const actorReport = Type.Object({
  kind: Type.String(),
  /** The number of a partition, or the id of a destination or account, depending on the actor's kind. */
  key: Type.String(),
  /** Absent if no thread runs the actor. */
  thread: Type.Optional(count),
  state: Type.String(),
  failuresInARow: count,
});

const workReport = Type.Object({
  v: Type.Literal(1),
  threads: Type.Array(threadReport),
  /** Actors that do not run come first. */
  actors: Type.Array(actorReport),
  /** Number of actors that are left out. */
  actorsMore: count,
});

/** The actors of a pipeline and where they run. The LEASES bucket drops the report if it is not renewed. */
export type WorkReport = Static<typeof workReport>;
export type ThreadReport = Static<typeof threadReport>;
export type ActorReport = Static<typeof actorReport>;

export const workKey = (instanceId: string): string => `work.${assertId(instanceId)}`;
export const allWork = 'work.*';

const isWork = Compile(workReport);

export function encodeWorkReport(report: WorkReport): Uint8Array {
  return encodeJson(report);
}

/** Returns undefined for a format that this build does not know. */
export function decodeWorkReport(bytes: Uint8Array | undefined): WorkReport | undefined {
  const report = decodeJson(bytes);
  return isWork.Check(report) ? report : undefined;
}
