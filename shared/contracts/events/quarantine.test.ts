import { expect, test } from 'vitest';
import { readEnvelope } from './envelope.ts';
import { FrameError } from './frame.ts';
import { releasedLine } from './quarantine.ts';

const rest = '"account":"a","source":"s","at":1,"kind":"track","id":"e","body":{"event":"ä","n":1.50}}';

test('quarantine: a released line has the number of its releases, and its other bytes are unchanged', () => {
  // The line is in the middle of other bytes, like a line of a frame.
  const frame = Buffer.from(`before{"v":1,${rest}`);
  const first = releasedLine(frame.subarray(6));
  expect(first.toString()).toBe(`{"v":2,"release":1,${rest}`);
  expect(readEnvelope(first.toString())).toMatchObject({ v: 2, release: 1, id: 'e' });
  let line = first;
  for (let release = 2; release <= 11; release += 1) {
    line = releasedLine(line);
    expect(line.toString()).toBe(`{"v":2,"release":${release},${rest}`);
  }
});

test.each([
  '',
  '{}',
  `{"v":3,${rest}`,
  `{"v":2,${rest}`,
  `{"v":2,"release":1234567890,${rest}`,
  ` {"v":2,"release":1,${rest}`,
])('quarantine: %s cannot be released', (line) => {
  expect(() => releasedLine(Buffer.from(line))).toThrow(FrameError);
});
