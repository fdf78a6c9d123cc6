import { expect, test } from 'vitest';
import { isAccessRefused, viewSending } from './view-sending.ts';

test('sending: is as reported by the instance with the newest dispatch', () => {
  const report = { v: 1, minutes: [], lastDispatchedAt: 1_000, sending: { breaker: 'open', concurrency: 1 } } as const;
  const newer = {
    ...report,
    lastDispatchedAt: 2_000,
    accessRefused: true,
    sending: { breaker: 'probing', concurrency: 4, answerMs: { half: 5, most: 9 } },
  } as const;
  expect(viewSending([newer, report])).toEqual({
    breaker: 'probing',
    isAccessRefused: true,
    concurrency: 4,
    answerMs: { half: 5, most: 9 },
    at: '1970-01-01T00:00:02.000Z',
  });
  expect(viewSending([])).toMatchObject({ breaker: null, concurrency: null, at: null });
});

test('sending: the newest report says whether the key is refused, also before the state of sending is known', () => {
  const accepted = { v: 1, minutes: [], lastDispatchedAt: 1_000 } as const;
  const refused = { ...accepted, accessRefused: true, lastDispatchedAt: 2_000 } as const;
  expect([isAccessRefused([accepted, refused]), isAccessRefused([refused, accepted])]).toEqual([true, true]);
  expect([isAccessRefused([refused, { ...accepted, lastDispatchedAt: 3_000 }]), isAccessRefused([])]).toEqual([
    false,
    false,
  ]);
  expect(isAccessRefused([{ ...refused, lastDispatchedAt: null }])).toBe(true);
  expect(viewSending([refused])).toMatchObject({ breaker: null, isAccessRefused: true });
});
