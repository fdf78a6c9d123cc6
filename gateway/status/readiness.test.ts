import { expect, test } from 'vitest';
import type { LogServer } from '../../shared/nats/monitor/read-log-servers.ts';
import { LogGate } from '../commit/log-gate.ts';
import { readinessChecks } from './readiness.ts';

const full: LogServer = {
  name: 'nats-1',
  version: '2.15.1',
  complaint: 'write error: no space left on device',
  storage: undefined,
  areRoutesEncrypted: undefined,
};

/** The result of the readiness check `log`. */
function logCheck(of: { connection?: string; canary?: string; servers?: readonly LogServer[] }): object | undefined {
  const checks = readinessChecks({
    connection: { problem: of.connection },
    canary: { problem: () => of.canary, stop: () => undefined },
    gate: new LogGate(() => true),
    feed: {
      ready: true,
      untrusted: 0,
      trusted: 1,
      revision: 1,
      missing: async () => 0,
      restart: () => Promise.resolve(),
      stop: () => undefined,
    },
    logServers: { servers: of.servers ?? [] },
    scope: { ending: false },
  });
  return checks.find(({ name }) => name === 'log')?.check();
}

test('readiness: a server that is too old is reported as a failed check of the log', () => {
  const problem = 'nats-server 2.10.27 is older than 2.15.1';
  expect(logCheck({ connection: problem })).toEqual({ ok: false, detail: problem });
});

test('readiness: if the log does not store messages, the check fails and reports the problems of its servers', () => {
  const canary = 'a canary message was not stored: timeout';
  expect(logCheck({ canary, servers: [full] })).toEqual({
    ok: false,
    detail: `${canary} (nats-1: write error: no space left on device)`,
  });
  expect(logCheck({ canary })).toEqual({ ok: false, detail: canary });
});

test('readiness: a log that stores is ready, even if one of its servers reports a problem', () => {
  expect(logCheck({ servers: [full] })).toEqual({ ok: true });
});
