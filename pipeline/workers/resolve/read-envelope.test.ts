import { describe, expect, it } from 'vitest';
import { FrameError } from '../../../shared/contracts/events/frame.ts';
import { SubjectError } from '../../../shared/contracts/subjects.ts';
import { readEnvelope } from './read-envelope.ts';

const good = { v: 1, kind: 'track', id: 'e', account: 'a', source: 's', at: 1, body: { event: 'E' } };

describe('readEnvelope', () => {
  it('readEnvelope: gives the envelope as it was written', () => {
    expect(readEnvelope(JSON.stringify(good))).toEqual(good);
  });

  it.each([
    ['no JSON', '{"v":1,'],
    ['null', 'null'],
    ['a list', '[]'],
    ['another version', JSON.stringify({ ...good, v: 2 })],
    ['no id', JSON.stringify({ ...good, id: undefined })],
    ['an unknown kind', JSON.stringify({ ...good, kind: 'page' })],
    ['a body that is a list', JSON.stringify({ ...good, body: [] })],
  ])('readEnvelope: refuses %s', (_name, line) => {
    expect(() => readEnvelope(line)).toThrow(FrameError);
  });

  it('readEnvelope: refuses an account that could not stand in a subject', () => {
    expect(() => readEnvelope(JSON.stringify({ ...good, account: 'a.b' }))).toThrow(SubjectError);
  });
});
