import { expect, test } from 'vitest';
import { judgeMemory } from './judge-memory.ts';
import type { MemoryUse } from './judge-memory.ts';

const mebibyte = 1024 ** 2;
const gateways: MemoryUse = {
  of: 'gateway',
  processes: 2,
  parts: [
    { what: 'heap', bytes: 300 * mebibyte },
    { what: 'bodies', bytes: 100 * mebibyte },
  ],
};

test.each([
  [1_000, 'ok'],
  [850, 'warn'],
  [799, 'fail'],
] as const)('memory: 800 MiB by configuration on %i MiB: %s', (available, level) => {
  const findings = judgeMemory([gateways, { of: 'pipeline', processes: 0, parts: [] }], available * mebibyte);
  expect(findings.map(({ about }) => about)).toEqual(['memory: gateway', 'memory']);
  expect(findings[0]).toMatchObject({ level: 'ok', detail: '2 × 400 MiB: 300 MiB heap, 100 MiB bodies' });
  expect(findings[1]).toMatchObject({ level, detail: `800 MiB by configuration, of ${available} MiB` });
});

test('memory: a process without a limit is named, together with the setting that would limit it', () => {
  const unbounded = { what: 'its memory', advice: 'set GOMEMLIMIT' };
  const [server] = judgeMemory([{ of: 'nats-server', processes: 1, parts: [], unbounded }], mebibyte);
  expect(server).toEqual({
    level: 'warn',
    about: 'memory: nats-server',
    detail: 'no limit of its memory',
    advice: 'set GOMEMLIMIT',
  });
});
