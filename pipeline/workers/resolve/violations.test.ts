import { expect, test } from 'vitest';
import type { Hit } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { Violations } from './violations.ts';

const hourMs = 3_600_000;
const hit: Hit = { rule: 'r', action: 'Report', severity: 'Info', property: 'x', places: [] };
const envelope: Envelope = { v: 1, kind: 'track', id: 'e', account: 'a', source: 's', at: hourMs + 1, body: {} };
const violated = (own: Partial<Envelope> = {}, name = 'E') => ({ envelope: { ...envelope, ...own }, name, hit });

test('violations: those with the same account, hour, event, source and app version are one row', () => {
  const violations = new Violations();
  for (const one of [
    violated(),
    violated({ at: hourMs + 5 }),
    violated({ account: 'b' }),
    violated({ at: 2 * hourMs }),
    violated({ source: 't' }),
    violated({ body: { defaultProperties: { app_version: 7 } } }),
    violated({ body: { defaultProperties: { sid: '1' } }, ctx: { defaultProperties: { app_version: 7 } } }),
    violated({}, 'F'),
  ])
    expect(violations.note(one)).toBe(true);
  const taken = violations.take();
  expect(
    taken.map((row) => [row.accountId, row.hourAtMs, row.event, row.sourceId, row.appVersion, row.count, row.lastAtMs]),
  ).toEqual([
    ['a', hourMs, 'E', 's', '', 2, hourMs + 5],
    ['b', hourMs, 'E', 's', '', 1, hourMs + 1],
    ['a', 2 * hourMs, 'E', 's', '', 1, 2 * hourMs],
    ['a', hourMs, 'E', 't', '', 1, hourMs + 1],
    ['a', hourMs, 'E', 's', '7', 2, hourMs + 1],
    ['a', hourMs, 'F', 's', '', 1, hourMs + 1],
  ]);
  expect(violations.take()).toEqual([]);
});

test('violations: further groups of an account are counted by rule only, which leaves room for other accounts', () => {
  const violations = new Violations();
  for (let n = 0; n < 600; n += 1) violations.note(violated({}, `E${n}`));
  violations.note(violated({ account: 'b' }));
  const rows = violations.take();
  expect(rows.filter(({ accountId }) => accountId === 'a')).toHaveLength(501);
  expect(rows.find(({ event }) => event === '_other')).toMatchObject({ count: 100, sourceId: '', sample: '' });
  expect(rows.at(-1)).toMatchObject({ accountId: 'b', event: 'E' });
  for (let n = 0; n < 600; n += 1) violations.note(violated({}, `E${n}`));
  expect(violations.take()).toHaveLength(501);
});

test('violations: beyond 5,000 groups a new group is refused until the recorded groups are taken', () => {
  const violations = new Violations();
  for (let n = 0; n < 5_000; n += 1) violations.note(violated({ account: `a${n}` }));
  expect(violations.note(violated({ account: 'late' }))).toBe(false);
  expect(violations.note(violated({ account: 'a0' }))).toBe(true);
  violations.take();
  expect(violations.note(violated({ account: 'late' }))).toBe(true);
});

test('violations: names that PostgreSQL cannot hold are cut and cleaned', () => {
  const violations = new Violations();
  violations.note(violated({ source: `s\0${'x'.repeat(100)}` }, `\ud800${'E'.repeat(300)}`));
  const [row] = violations.take();
  expect(row).toMatchObject({ sourceId: `s${'x'.repeat(63)}`, event: `\ufffd${'E'.repeat(199)}` });
});
