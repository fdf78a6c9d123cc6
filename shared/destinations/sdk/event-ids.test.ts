import { describe, expect, it } from 'vitest';
import { eventUlid, eventUuid } from './event-ids.ts';

describe('event ulid', () => {
  it('starts with the time, encoded as the ULID specification says', () => {
    // The reference library's tests encode this time as 01ARYZ6S41.
    expect(eventUlid('order-1', 1_469_918_176_385)).toMatch(/^01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/);
  });

  it('is the same for the same event, and different for a different event', () => {
    expect(eventUlid('order-1', 5)).toBe(eventUlid('order-1', 5));
    expect(eventUlid('order-1', 5)).not.toBe(eventUlid('order-2', 5));
  });
});

describe('event uuid', () => {
  it('is the event’s id itself if that is a UUID', () => {
    expect(eventUuid('018F2E6B-1C3D-7A4F-8B2C-0123456789AB')).toBe('018f2e6b-1c3d-7a4f-8b2c-0123456789ab');
  });

  it.each(['order-1', '', '00000000-0000-0000-0000-000000000000', 'größe 1\r\n'])('%j: derived from the id', (id) => {
    expect(eventUuid(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(eventUuid(id)).toBe(eventUuid(id));
    expect(eventUuid(id)).not.toBe(eventUuid(`${id}x`));
  });
});
