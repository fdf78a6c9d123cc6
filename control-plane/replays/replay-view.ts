import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { shareDone } from '../../shared/contracts/replay-job.ts';
import type { ReplayJob } from '../../shared/contracts/replay-job.ts';

const instant = Type.String({ format: 'date-time' });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A replay as it is answered. */
export const replayReply = Type.Object({
  id: Type.String(),
  destinationId: Type.String(),
  what: Type.Enum(['dead-letters', 'log']),
  reason: nullable(Type.String()),
  from: nullable(instant),
  to: nullable(instant),
  status: Type.Enum(['waiting', 'running', 'cancelling', 'cancelled', 'done'], {
    description:
      'waiting: for its turn, a pipeline, or its destination to be in the live version. done: every event is before ' +
      'the destination, which sends them as fast as it can.',
  }),
  createdAt: instant,
  updatedAt: instant,
  scanned: count('Messages of the log looked at.'),
  queued: count('Events put before the destination again.'),
  share: Type.Number({ minimum: 0, maximum: 1, description: 'How much of its range is done.' }),
});

export function viewReplay(job: ReplayJob): JsonObject {
  const { request } = job;
  return {
    id: job.id,
    destinationId: job.destinationId,
    what: request.what,
    reason: request.what === 'log' ? null : (request.reason ?? null),
    from: instantOf(request.fromMs),
    to: instantOf(request.toMs),
    status: job.state,
    createdAt: new Date(job.createdAtMs).toISOString(),
    updatedAt: new Date(job.updatedAtMs).toISOString(),
    scanned: job.scanned,
    queued: job.queued,
    share: shareDone(job),
  };
}

function instantOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
