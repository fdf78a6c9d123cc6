import { describe, expect, it } from 'vitest';
import { eventUlid } from './event-ulid.ts';

describe('event ulid', () => {
  it('starts with the time, as the specification writes it', () => {
    // An example of the specification's own library.
    expect(eventUlid('order-1', 1_469_918_176_385)).toMatch(/^01ARYZ6S41[0-9A-HJKMNP-TV-Z]{16}$/);
  });

  it('is the same for the same event, and another for another', () => {
    expect(eventUlid('order-1', 5)).toBe(eventUlid('order-1', 5));
    expect(eventUlid('order-1', 5)).not.toBe(eventUlid('order-2', 5));
  });
});
