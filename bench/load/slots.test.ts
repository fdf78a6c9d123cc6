import { expect, test } from 'vitest';
import { batchPayload, batchRow, trackPayload } from '../../gateway/payload/payloads.ts';
import { batchBody, trackBody } from './bodies.ts';
import { postRequest } from './http-connection.ts';
import { RequestTemplate } from './slots.ts';

const dueMs = 1_760_000_000_123.456;

function sent(template: RequestTemplate): unknown {
  const text = template.bytes.toString('utf8');
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
}

test('slots: a filled track request is a valid track request and has the time at which it was due', () => {
  const template = new RequestTemplate(postRequest(new URL('http://127.0.0.1/api/v1/track'), trackBody('src_live_x')));
  template.fill(7, 1_000, dueMs);
  const body = sent(template);
  expect(trackPayload.Check(body)).toBe(true);
  expect(body).toMatchObject({ externalId: 'customer-000000433', properties: { sent_at: dueMs } });
});

test('slots: each row of a batch has an id that no other row has, in this batch or another', () => {
  const rows = 50;
  const template = new RequestTemplate(postRequest(new URL('http://127.0.0.1/b'), batchBody('src_live_x', rows)));
  expect(template.sequences).toBe(rows);
  const ids = new Set<unknown>();
  for (const sequence of [0, rows]) {
    template.fill(sequence, 1_000, dueMs);
    const body = sent(template);
    if (!batchPayload.Check(body)) throw new Error('it is not a batch');
    for (const row of body.events) {
      if (!batchRow.Check(row)) throw new Error('it is not a row');
      ids.add(row.distinctId);
    }
  }
  expect(ids.size).toBe(rows * 2);
});

test('slots: filling keeps the length that the head announces', () => {
  const request = postRequest(new URL('http://127.0.0.1/t'), trackBody('src_live_x'));
  const template = new RequestTemplate(request);
  template.fill(999_999_999_999, 1_000_000_000, dueMs);
  expect(template.bytes.length).toBe(request.length);
});
