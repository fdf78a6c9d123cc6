import { Type } from 'typebox';

const count = Type.Integer({ minimum: 0 });

/** Outcomes of events that were received in a range, as the interface shows them. */
export const funnelFields = {
  received: { ...count, description: 'Events that the destination has read from the log of the account.' },
  replayed: { ...count, description: 'Events received again by a replay.' },
  filtered: {
    ...count,
    description:
      'Stopped by a mapping, a dispatch rule, consent, an erasure or the platform, or skipped while they waited: the live rules no longer send them to the destination, or the log no longer has them.',
  },
  waiting: {
    ...count,
    description: 'Events that wait for an earlier event of their visitor, or while the destination is paused.',
  },
  retrying: { ...count, description: 'Events that failed and wait for their next attempt.' },
  deadLetters: { ...count, description: 'Events that became dead letters, including those replayed or deleted since.' },
  delivered: count,
  deliveredLate: { ...count, description: 'Events delivered after a failed attempt.' },
};
