import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { ByteWriter } from '../../json/byte-writer.ts';
import { FrameError } from './frame.ts';
import { encodeResolved, parseResolved, resolvedLine } from './resolved-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';
import { ResolvedFrame } from './resolved-frame.ts';
import { sharedVisitorFrame } from './testing/shared-visitor-frame.ts';

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }));
const events = fc.array(
  fc.record({ id: text, name: text, own: text, of: text }).map(({ id, name, own, of }): ResolvedEvent => {
    const sample = sampleEvent({ id, event: name, event_properties: { own } });
    return { ...sample, visitor: { ...sample.visitor, id: of } };
  }),
  { minLength: 1, maxLength: 6 },
);

test('resolved frame: each line, its head and its event are read back unchanged, whichever line contains the visitor', () => {
  fc.assert(
    fc.property(events, fc.boolean(), (made, isShared) => {
      const written = isShared ? made.map((one) => ({ ...one, visitor: made[0]?.visitor ?? one.visitor })) : made;
      const data = isShared
        ? sharedVisitorFrame(written)
        : Buffer.from(written.map((one) => `${encodeResolved(one)}\n`).join(''));
      const frame = ResolvedFrame.open(data);
      expect(frame?.length).toBe(written.length);
      written.forEach((one, index) => {
        expect(parseResolved(frame?.lineAt(index) ?? '')).toEqual(JSON.parse(JSON.stringify(one)));
        const head = frame?.headAt(index);
        if (head === undefined) return;
        const { v: _, ...rest } = one;
        const json = frame?.eventJsonAt(index, head) ?? '';
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(rest)));
        const writer = new ByteWriter(1);
        frame?.writeEventJsonAt(writer, index, head);
        expect(Buffer.from(writer.copy()).toString()).toBe(json);
        expect(frame?.bytesAt(index)).toBeGreaterThanOrEqual(frame?.textAt(index).length ?? Infinity);
      });
    }),
  );
});

test('resolved frame: the bytes of the frame, the bytes of a line, and the head of a line are known without parsing', () => {
  const line = encodeResolved(sampleEvent({ id: 'é' }));
  const frame = new ResolvedFrame(Buffer.from(`${line}\n${line}\n`));
  const bytes = Buffer.byteLength(line);
  expect([frame.bytes, frame.length, frame.bytesAt(0), frame.bytesAt(1)]).toEqual([2 * bytes + 2, 2, bytes, bytes]);
  expect(frame.headAt(1)).toMatchObject({ id: 'é' });
});

test('resolved frame: a reference consists of a line number and the length of the visitor there; similar text is refused', () => {
  const { event, visitor } = sampleEvent();
  const characters = JSON.stringify(visitor).length;
  const said = [
    `[0,${characters}]`,
    `[0,${characters - 1}]`,
    `[0;${characters}]`,
    `(0,${characters}]`,
    `[,${characters}]`,
    `[0,${String(characters).padStart(10, '0')}]`,
  ];
  const lines = [encodeResolved({ v: 1, event, visitor }), ...said.map((one) => resolvedLine(visitor.id, '{}', one))];
  const frame = new ResolvedFrame(Buffer.from(lines.map((line) => `${line}\n`).join('')));
  expect(JSON.parse(frame.lineAt(1))).toMatchObject({ visitor: JSON.parse(JSON.stringify(visitor)) as object });
  for (let index = 2; index < frame.length; index += 1) expect(() => frame.lineAt(index)).toThrow(FrameError);
});

test.each(['[7,10]', '[0,0]', '[0,3]', '[]', '[-1,4]', '[0,99999999]', '[0,1234567890123]', '[1]'])(
  'resolved frame: a line that refers to %s for its visitor cannot be read, and the other line still can',
  (said) => {
    const { event, visitor } = sampleEvent();
    const whole = encodeResolved({ v: 1, event, visitor });
    const frame = ResolvedFrame.open(Buffer.from(`${whole}\n${resolvedLine(visitor.id, '{}', said)}\n`));
    expect(() => frame?.bytesAt(1)).toThrow(FrameError);
    expect(() => frame?.lineAt(1)).toThrow(FrameError);
    expect(frame?.lineAt(0)).toBe(whole);
  },
);
