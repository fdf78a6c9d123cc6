import pino from 'pino';
import { expect, test } from 'vitest';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { createPlanFigures } from './plan-figures.ts';
import { createResolverCounts } from './resolver-context.ts';
import { startViolationWriter } from './violation-writer.ts';
import type { ViolationStore } from './violation-writer.ts';

const hit = { rule: 'r', action: 'Report', severity: 'Info', property: 'x', places: [] } as const;
const envelope = (account: string): Envelope => ({
  v: 1,
  kind: 'track',
  id: 'e',
  account,
  source: 's',
  at: 1,
  body: {},
});

test('violation writer: when the database fails between two statements, each violation is still counted once', async () => {
  const plan = createPlanFigures();
  const written = new Map<string, number>();
  let statements = 0;
  const store: ViolationStore = {
    async write(counted) {
      statements += 1;
      if (statements === 2) throw new Error('the connection ended');
      for (const { accountId, count } of counted) written.set(accountId, (written.get(accountId) ?? 0) + count);
    },
    deleteOld: () => Promise.resolve(),
  };
  const counts = createResolverCounts();
  const writer = startViolationWriter({ partition: 1, plan, counts, logger: pino({ level: 'silent' }) }, store);
  for (let n = 0; n < 1_200; n += 1) plan.violations.note({ envelope: envelope(`a${n}`), name: 'E', hit });
  await writer.close();
  expect(counts.violation_write_retries).toBe(1);
  await writer.close();
  expect([...written.values()]).toEqual(Array.from({ length: 1_200 }, () => 1));
});
