import { expect, test } from 'vitest';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { withAudit } from './audited-effect.ts';

const principal: Principal = {
  accountId: 'account',
  kind: 'key',
  id: 'key',
  name: 'key',
  scopes: ['all'],
  expiresAt: null,
};

/** A fake database that records audit entries, and knows whether a transaction is open. */
function fakeDatabase() {
  const state = { open: 0, audited: [] as string[] };
  const em = {
    execute: async () => [],
    create: (_entity: unknown, row: { action: string }) => row,
    persist: (row: { action: string }) => void state.audited.push(row.action),
    async transactional(work: (inner: unknown) => Promise<unknown>) {
      state.open += 1;
      try {
        return await work(em);
      } finally {
        state.open -= 1;
      }
    },
  };
  const services = { storage: { fork: () => em }, now: () => new Date(0) } as unknown as CoreServices;
  return { state, services };
}

test('audited effect: runs after its audit entry is committed, while no transaction is open', async () => {
  const { state, services } = fakeDatabase();
  const result = await withAudit(services, principal, {
    audited: { action: 'replay' },
    check: async () => state.open,
    effect: async (openAtCheck) => ({ openAtCheck, open: state.open, audited: [...state.audited] }),
  });
  expect(result).toEqual({ openAtCheck: 1, open: 0, audited: ['replay'] });
});

test('audited effect: a failure is thrown, and recorded as failed', async () => {
  const { state, services } = fakeDatabase();
  const failing = withAudit(services, principal, {
    audited: { action: 'replay' },
    check: async () => undefined,
    effect: () => Promise.reject(new Error('the log is away')),
  });
  await expect(failing).rejects.toThrow('the log is away');
  expect(state.audited).toEqual(['replay', 'replay-failed']);
});
