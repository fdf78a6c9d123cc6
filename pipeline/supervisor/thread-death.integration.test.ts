import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../shared/testing/until.ts';
import { createPool } from './pool.ts';
import { createStatsLedger } from './stats-ledger.ts';
import { Supervisor } from './supervisor.ts';
import { fatalPartitions } from './testing/fatal-host.ts';
import { hostSettingsForTests } from './testing/host-settings.ts';

const healthy = 8;

function superviseReal() {
  const pool = createPool({ threads: 2, heapMaxMib: 32, host: new URL('./testing/fatal-host.ts', import.meta.url) });
  pool.on('error', () => undefined);
  const deaths: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void deaths.push(line) });
  const supervisor = new Supervisor({
    stopDeadlineMs: 20_000,
    silenceMaxMs: 30_000,
    pool,
    threads: 2,
    settings: hostSettingsForTests,
    stats: createStatsLedger(),
    logger,
  });
  onTestFinished(async () => {
    await supervisor.stop(0);
    await pool.destroy();
  });
  supervisor.start();
  return { supervisor, deaths };
}

test.each(Object.entries(fatalPartitions))(
  'thread death: %s: other actors are down only briefly',
  async (_cause, partition) => {
    const { supervisor, deaths } = superviseReal();
    for (let n = 0; n < healthy; n += 1) void supervisor.run({ kind: 'resolver', partition: n });
    await until('the healthy run', () => supervisor.states.running === healthy);
    const runsAgain = (): boolean => supervisor.threadsReady === 2 && supervisor.states.running === healthy;
    // The fatal actor is restarted repeatedly, after longer and longer delays.
    void supervisor.run({ kind: 'resolver', partition });
    await until('a thread died', () => deaths.length > 0);
    await until('the healthy run again', runsAgain);
    await until('another thread died', () => deaths.length > 1);
    await until('the healthy run again', runsAgain);
    expect(supervisor.states.running).toBe(healthy);
  },
);
