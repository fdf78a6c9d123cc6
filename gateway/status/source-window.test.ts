import { expect, test } from 'vitest';
import { SourceWindow } from './source-window.ts';

const none = { stored: 0, test: 0, lost: 0, invalid: 0, limited: 0, forbidden: 0 };
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

test('source window: events are counted by minute and by hour, and counting continues from a stored record', () => {
  const window = new SourceWindow(24);
  window.add({ ...none, stored: 2, invalid: 1 }, 59 * minuteMs);
  window.add({ ...none, test: 3 }, 61 * minuteMs);
  window.add(none, 62 * minuteMs);
  const record = { lastTriggeredAt: 1, minutes: window.minutes, hours: window.hoursFrom(0) };
  expect(record.minutes).toEqual([
    [59, 2, 0, 0, 1, 0, 0],
    [61, 0, 3, 0, 0, 0, 0],
  ]);
  const resumed = new SourceWindow(24, record);
  resumed.add({ ...none, stored: 1, limited: 4, forbidden: 5, lost: 6 }, 61 * minuteMs);
  expect(resumed.hoursBefore(1)).toEqual([[0, 2, 0, 0, 1, 0, 0]]);
  expect(resumed.hoursFrom(1)).toEqual([[1, 1, 3, 6, 0, 4, 5]]);
});

test('source window: memory: after a busy month it keeps 15 minutes by minute, and the configured number of hours', () => {
  const window = new SourceWindow(48);
  for (let hour = 0; hour < 30 * 24; hour += 1) window.add({ ...none, stored: 1 }, hour * hourMs);
  for (let minute = 0; minute < 60; minute += 1) window.add({ ...none, stored: 1 }, 720 * hourMs + minute * minuteMs);
  expect(window.minutes).toHaveLength(16);
  expect(window.hoursFrom(0)).toHaveLength(48);
});
