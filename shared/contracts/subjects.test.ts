import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  SubjectError,
  accountKey,
  deadLetterSubject,
  dispatcherConsumer,
  eventsSubject,
  retrySubject,
} from './subjects.ts';
import { anyText } from '../testing/any-text.ts';

test('subjects: only a checked id becomes part of a subject', () => {
  fc.assert(
    fc.property(anyText(), (id) => {
      for (const build of [deadLetterSubject, dispatcherConsumer, accountKey, (x: string) => eventsSubject(x, 0)]) {
        let built: string | undefined;
        try {
          built = build(id);
        } catch (error) {
          expect(error).toBeInstanceOf(SubjectError);
        }
        if (built !== undefined) expect(built).toMatch(/^[a-z]+[.-][A-Za-z0-9_-]{1,64}(\.\d+)?$/);
      }
    }),
  );
});

test.each(['a b', 'a\r\nPUB x 1', '*', '>', 'a.b', '', 'x'.repeat(65)])('subjects: refuses %j', (id) => {
  expect(() => retrySubject(id, 0)).toThrow(SubjectError);
});
