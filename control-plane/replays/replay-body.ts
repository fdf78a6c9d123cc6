import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ReplayRequest } from '../../shared/contracts/replay-job.ts';
import { badRequest } from '../api/api-error.ts';
import { readTimeRange, timeField } from './time-range.ts';

/** What a client asks to have sent again. */
export const replayBody = Type.Object(
  {
    what: Type.Enum(['dead-letters', 'log'], {
      description:
        'dead-letters: what the destination did not take; each leaves the dead letters as it is put before the ' +
        'destination, and comes back if it is refused again. log: the events of the account from a range of time, as ' +
        'long as the log keeps them, whatever became of them; the live version decides about each.',
    }),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'Dead letters of exactly this reason only.' }),
    ),
    from: Type.Optional(
      timeField('Dead letters last tried, or events resolved, at this time or later. Required for the log.'),
    ),
    to: Type.Optional(timeField('And before this time. Required for the log.')),
  },
  { additionalProperties: false },
);

/** Turns the body into what the pipeline is asked for. Throws a 400 that names the field. */
export function readReplayRequest({ what, reason, ...times }: Static<typeof replayBody>): ReplayRequest {
  const range = readTimeRange(times);
  if (what === 'dead-letters') return { what, ...(reason === undefined ? {} : { reason }), ...range };
  if (reason !== undefined) throw badRequest('reason is for dead letters only');
  const { fromMs, toMs } = range;
  if (fromMs === undefined) throw badRequest('from is required for the log');
  if (toMs === undefined) throw badRequest('to is required for the log');
  return { what: 'log', fromMs, toMs };
}
