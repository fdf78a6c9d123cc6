import { expect, test } from 'vitest';
import { judgeLosses } from './judge-losses.ts';

test('doctor: a log that lost nothing is well', () => {
  expect(judgeLosses(new Map([['EVENTS', { bytes: 0, seqs: [] }]]), [])).toMatchObject([{ level: 'ok' }]);
});

test('doctor: what the server lost, and what readers missed, is named', () => {
  const seqs = Array.from({ length: 25 }, (_, n) => n + 1);
  const note = { stream: 'INGEST', subject: 'ingest.0', noticedAtMs: Date.UTC(2026, 0, 2) };
  const findings = judgeLosses(new Map([['EVENTS', { bytes: 875, seqs }]]), [
    { ...note, seq: 61 },
    { ...note, seq: 80, noticedAtMs: Date.UTC(2026, 0, 1) },
  ]);
  expect(findings.map(({ level, detail }) => [level, detail])).toEqual([
    ['fail', expect.stringMatching(/875 bytes of EVENTS .* sequences 1, 2, .*20 and 5 more$/)],
    ['fail', 'of INGEST sequences 61, 80 (ingest.0) were gone, noticed last at 2026-01-02T00:00:00.000Z'],
  ]);
});
