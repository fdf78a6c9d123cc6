import { describe, expect, it } from 'vitest';
import { FrameError } from '../../shared/events/frame.ts';
import { readFrame } from './read-frame.ts';

const good = { v: 1, kind: 'track', id: 'e', account: 'a', source: 's', at: 1, body: { event: 'E' } };

describe('readFrame', () => {
  it('readFrame: one bad line does not take the others with it', () => {
    const lines = [
      good,
      null,
      [],
      7,
      { ...good, v: 2 },
      { ...good, id: 5 },
      { ...good, account: 'a.b' },
      { ...good, body: [] },
      good,
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const read = readFrame(Buffer.from(`${text}{"v":1,\n`));
    expect(read.map(({ kind }) => kind)).toEqual([
      'event',
      ...Array.from({ length: 7 }, () => 'unreadable'),
      'event',
      'unreadable',
    ]);
  });

  it('readFrame: a frame without its last line end is refused as a whole', () => {
    expect(() => readFrame(Buffer.from('{"v":1'))).toThrow(FrameError);
  });
});
