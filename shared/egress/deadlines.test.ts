import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('deadlines', () => {
  const expired: string[] = [];
  const timed = (name: string) => ({ expire: () => void expired.push(name) });
  beforeEach(() => void expired.splice(0));

  test('expire: each item expires when its own time is over', () => {
    const deadlines = new Deadlines(100);
    deadlines.begin(timed('a'));
    vi.advanceTimersByTime(60);
    deadlines.begin(timed('b'));
    vi.advanceTimersByTime(45);
    expect(expired).toEqual(['a']);
    vi.advanceTimersByTime(60);
    expect(expired).toEqual(['a', 'b']);
  });

  test('end: an item that ended does not expire', () => {
    const deadlines = new Deadlines(100);
    const a = deadlines.begin(timed('a'));
    const b = deadlines.begin(timed('b'));
    deadlines.begin(timed('c'));
    deadlines.end(b);
    deadlines.end(a);
    deadlines.end(a);
    deadlines.begin(timed('d'));
    vi.advanceTimersByTime(150);
    expect(expired).toEqual(['c', 'd']);
  });

  test('expire: an item that begins while another one expires gets its full time', () => {
    const deadlines = new Deadlines(100);
    deadlines.begin({
      expire: () => {
        expired.push('a');
        deadlines.begin(timed('b'));
      },
    });
    vi.advanceTimersByTime(150);
    expect(expired).toEqual(['a']);
    vi.advanceTimersByTime(100);
    expect(expired).toEqual(['a', 'b']);
  });

  test('stop: nothing expires, and no timer is left', () => {
    const deadlines = new Deadlines(100);
    deadlines.begin(timed('a'));
    deadlines.stop();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(200);
    expect(expired).toEqual([]);
  });
});
