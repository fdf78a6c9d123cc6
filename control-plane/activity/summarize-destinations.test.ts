import { expect, test } from 'vitest';
import { urgencyOf } from './summarize-destinations.ts';

test('urgency: a live destination whose key is refused is among the most urgent, whatever its success rate is', () => {
  const none = { succeeded: 0, failed: 0, stopped: 0, blocked: 0 };
  const health = { status: 'HEALTHY' } as Parameters<typeof urgencyOf>[0]['health'];
  const backlog = { waitingFrames: 0, retryingFrames: 0, deadLetters: 0 };
  const well = { isLive: true, isAccessRefused: false, health, lately: none, backlog };
  const refused = { ...well, isAccessRefused: true };
  expect([urgencyOf(well), urgencyOf(refused), urgencyOf({ ...refused, isLive: false })]).toEqual([0, 4, -1]);
});
