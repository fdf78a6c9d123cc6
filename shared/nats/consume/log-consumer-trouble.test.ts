import { expect, test } from 'vitest';
import { logConsumerTrouble } from './log-consumer-trouble.ts';

function rig() {
  const lines: { level: string; fields: unknown; message: string | undefined }[] = [];
  const at =
    (level: string) =>
    (fields: unknown, message?: string): void =>
      void lines.push({ level, fields, message });
  const take = logConsumerTrouble({ debug: at('debug'), warn: at('warn'), error: at('error') }, { partition: 3 });
  const unanswered = (lastsMs: number): void => take({ kind: 'unanswered', reason: '503', lastsMs });
  return { take, unanswered, lines, levels: () => lines.map(({ level }) => level) };
}

test('consumer trouble: a problem that passes within seconds is logged as a single warning', () => {
  const { unanswered, lines, levels } = rig();
  for (const lastsMs of [0, 260, 3_000, 14_000]) unanswered(lastsMs);
  expect(levels()).toEqual(['warn', 'debug', 'debug', 'debug']);
  expect(lines[0]?.fields).toEqual({ partition: 3, reason: '503', lastsMs: 0 });
});

test('consumer trouble: a problem that lasts is logged as an error, then again once a minute', () => {
  const { unanswered, levels } = rig();
  for (const lastsMs of [0, 15_000, 15_250, 70_000, 75_500, 76_000]) unanswered(lastsMs);
  expect(levels()).toEqual(['warn', 'error', 'debug', 'debug', 'error', 'debug']);
});

test('consumer trouble: a new problem after a recovery is logged as a warning first', () => {
  const { unanswered, levels } = rig();
  for (const lastsMs of [0, 15_000, 0, 15_000]) unanswered(lastsMs);
  expect(levels()).toEqual(['warn', 'error', 'warn', 'error']);
});

test('consumer trouble: a failed request is logged with its cause, and a recreated consumer as a warning', () => {
  const { take, lines, levels } = rig();
  const error = new Error('no answer');
  take({ kind: 'failed', error, lastsMs: 0 });
  take({ kind: 'recreated' });
  expect(levels()).toEqual(['warn', 'warn']);
  expect(lines[0]?.fields).toMatchObject({ err: error });
});
