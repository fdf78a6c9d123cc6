import { expect, test } from 'vitest';
import { batchRow } from './payloads.ts';
import { botScore, isStoppedAsBot } from '../../shared/admission/bot-score.ts';
import { describeProblem } from './describe-problem.ts';
import { isWithinWindow } from './time-window.ts';
import { trackPayload } from './payloads.ts';

test.each([
  [{ token: 't' }, 'event is required'],
  [{ token: 't', event: 1 }, 'event must be a string of 1 to 1000 characters'],
  [{ token: 't', event: 'e', userId: 5 }, 'userId must be a string of 1 to 400 characters or null'],
  [
    { token: 't', event: 'e', userProperties: { city: 5 } },
    'userProperties.city must be a string of at most 2000 characters or null',
  ],
  [{ token: 't', event: 'e', userProperties: { consent: [] } }, 'userProperties.consent must be an object or null'],
  [
    { token: 't', event: 'e', identityContext: { ip: 5 } },
    'identityContext.ip must be a string of at most 2000 characters or null',
  ],
  ['text', 'the body must be a JSON object'],
])('describeProblem: %j', (payload, sentence) => {
  expect(describeProblem(trackPayload, payload)).toBe(sentence);
});

test('describeProblem: for a batch row without an id, the problem names distinctId', () => {
  expect(describeProblem(batchRow, { event: 'a' })).toBe('distinctId is required');
});

test('isWithinWindow: both ends belong to the window', () => {
  const window = { pastMsMax: 100, aheadMsMax: 10 };
  const at = (time: number | null | undefined): boolean => isWithinWindow(time, 1_000, window);
  expect([900, 1_010, null, undefined].map(at)).toEqual([true, true, true, true]);
  expect([899, 1_011, Infinity, -Infinity].map(at)).toEqual([false, false, false, false]);
});

test('botScore: what the client states takes precedence over its User-Agent', () => {
  const crawler = 'Googlebot/2.1 (+http://www.google.com/bot.html)';
  expect(botScore({}, crawler)).toBe(100);
  expect(botScore({ is_bot: false }, crawler)).toBe(0);
  expect(
    [' True', 'true', 'FALSE', 'perhaps'].map((said) => botScore({ is_bot: said }, 'Mozilla/5.0 Firefox/140')),
  ).toEqual([100, 100, 0, 0]);
  expect(botScore({ is_bot: 'false' }, crawler)).toBe(0);
  expect(botScore({ is_bot: 'perhaps' }, crawler)).toBe(100);
  expect(botScore({ bot_score: 42.4, is_bot: true }, crawler)).toBe(42);
  expect(botScore({ bot_score: 1e9 }, '')).toBe(100);
  expect(botScore({}, '')).toBe(50);
});

test('isStoppedAsBot: Allow stops no request; Block and Threshold stop requests from a certain score on', () => {
  const stopped = (mode: string | null, threshold: number | null, score: number | undefined): boolean =>
    isStoppedAsBot({ mode, threshold }, score);
  expect(stopped(null, null, 100)).toBe(false);
  expect(stopped('Allow', 10, 100)).toBe(false);
  expect(stopped('Block', null, 100)).toBe(true);
  expect(stopped('Block', null, 0)).toBe(false);
  expect(stopped('Threshold', null, 70)).toBe(true);
  expect(stopped('Threshold', 90, 80)).toBe(false);
  expect(stopped('Block', null, undefined)).toBe(false);
});
