import { Type } from 'typebox';

const count = Type.Integer({ minimum: 0 });

/** Outcomes of events that were received in a range, as the interface shows them. */
export const funnelFields = {
  received: { ...count, description: 'Events that the destination has read from the log of the account.' },
  replayed: { ...count, description: 'Events that came in once more with a replay.' },
  filtered: { ...count, description: 'Stopped by a mapping, a dispatch rule, consent, an erasure or the platform, or skipped: while they waited, the destination stopped needing them or the log lost them.' },
  waiting: {
    ...count,
    description: 'Wait after an earlier event of their visitor, or while the destination is paused.',
  },
  retrying: { ...count, description: 'Failed, and wait for their next attempt.' },
  deadLetters: { ...count, description: 'Became dead letters, whether or not they were replayed or deleted since.' },
  delivered: count,
  deliveredLate: { ...count, description: 'Events delivered after a failed attempt.' },
};
