import { expect, test } from 'vitest';
import { whyWaiting } from './why-waiting.ts';

const backlog = (waitingFrames: number, retryingFrames: number) => ({ waitingFrames, retryingFrames, deadLetters: 0 });
const sent = { breaker: 'closed', isAccessRefused: false } as const;

test.each([
  [
    'its key is refused',
    { sending: { ...sent, breaker: 'open', isAccessRefused: true } as const, backlog: backlog(3, 3) },
    /key or token/,
  ],
  [
    'its breaker is open',
    { sending: { ...sent, breaker: 'open' } as const, backlog: backlog(3, 3) },
    /paused after repeated failures/,
  ],
  [
    'its breaker is half open',
    { sending: { ...sent, breaker: 'probing' } as const, backlog: backlog(0, 0) },
    /one request at a time/,
  ],
  ['it is behind in the log', { sending: sent, backlog: backlog(1, 3) }, /1 batch in the log/],
  ['only retries wait', { sending: sent, backlog: backlog(0, 3) }, /3 batches wait for a retry/],
  ['nothing waits', { sending: sent, backlog: backlog(0, 0) }, /not recorded/],
  ['the log does not answer', { sending: sent, backlog: undefined }, /log did not respond/],
])('why an event waits: %s', (_what, now, why) => {
  expect(whyWaiting(now)).toMatch(why);
});
