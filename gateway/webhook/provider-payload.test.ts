import { expect, test } from 'vitest';
import { parseExact } from '../../shared/json/exact-numbers.ts';
import { findSourceKind } from '../../shared/sources/registry.ts';
import { encodeMade } from '../ingest/encode-made.ts';
import { payloadOf } from './provider-payload.ts';

const nowMs = Date.UTC(2026, 10, 22, 12);
const timeWindow = { pastMsMax: 604_800_000, aheadMsMax: 300_000 };
const context = {
  sourceName: 'source',
  says: { event: undefined, fields: {} },
  nowMs,
  timeWindow,
  token: 'token',
};

/** The event that is stored for a Segment message. */
function stored(message: string): string {
  const [event] = findSourceKind('SegmentWebPlugin')?.readEvents(parseExact(message)) ?? [];
  if (event === undefined) return expect.unreachable();
  const body = encodeMade(payloadOf(event, context, 0), 'key', nowMs, { timeWindow, bytesMax: 10_000 });
  return Buffer.isBuffer(body) ? body.toString() : expect.unreachable();
}

test('provider payload: consent and integrations of the message are stored with the event', () => {
  const said = `"context":{"consent":{"categoryPreferences":{"Ads":false}}},"integrations":{"All":false}`;
  const expected = { consent: { categoryPreferences: { Ads: false } }, integrations: { All: false } };
  expect(JSON.parse(stored(`{"type":"track","event":"e",${said}}`))).toMatchObject(expected);
  expect(JSON.parse(stored(`{"type":"identify","userId":"u",${said}}`))).toMatchObject(expected);
  const body = JSON.parse(stored(`{"type":"track","event":"e"}`)) as object;
  expect(body).not.toHaveProperty('consent');
  expect(body).not.toHaveProperty('integrations');
});

test('provider payload: a number among the traits of a visitor is stored as sent', () => {
  const body = stored(`{"type":"identify","userId":"u","traits":{"score":9007199254740993,"plan":{"id":1.0}}}`);
  expect(body).toContain('"score":9007199254740993');
  expect(body).toContain('"id":1.0');
});

test('provider payload: a null trait of an identify is stored as null', () => {
  const body = stored(`{"type":"identify","userId":"u","traits":{"email":null,"firstName":null}}`);
  expect(JSON.parse(body)).toMatchObject({ userProperties: { email: null, first_name: null } });
});
