import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { decodeDeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../shared/contracts/events/dead-letter.ts';
import { encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { copied } from '../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord, parkedTier, replayTier } from '../../shared/contracts/events/retry-record.ts';
import {
  deadLetterSubject,
  eventsSubject,
  retriesOfDestination,
  retrySubject,
} from '../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { countBySubject, readNext } from '../../shared/nats/messages/subject-log.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { startScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';
import { accountConfig, httpEntity } from '../testing/account-config.ts';
import { until } from '../../shared/testing/until.ts';
import { quarantineReason } from '../workers/worker/suspicion.ts';
import { createPool } from './pool.ts';
import { createStatsLedger } from './stats-ledger.ts';
import { Supervisor } from './supervisor.ts';
import { hostSettingsForTests } from './testing/host-settings.ts';
import { poison } from './testing/poisoned-host.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());

/** A log and a destination; an event with `poison` in its id takes down the thread that runs the dispatcher. */
async function openPoisonedRig() {
  const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'poisoned-retry-test' });
  onTestFinished(() => connection.close());
  await makeTestLog(nats, testTopology({ partitions: 1, streamBytesMax: 64 * 1024 ** 2 }));
  const sink = await startScriptedDestination();
  onTestFinished(() => sink.close());
  const [accountId, destinationId] = [randomUUID(), randomUUID()];
  const publishedAtMs = Date.now();
  const config = accountConfig(
    accountId,
    { destinations: [httpEntity(destinationId, `${sink.url}/hook`)] },
    publishedAtMs,
  );
  const errors: { readonly msg: string; readonly log?: string; readonly seq?: number }[] = [];

  const put = async (subject: string, lines: readonly string[]): Promise<number> => {
    const payload = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    return (await publish(connection, subject, payload, { msgId: randomUUID(), timeoutMs: 5_000 })).seq;
  };
  const record = (id: string): string => {
    const at = Date.now();
    const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
    return encodeRetryRecord({ attempts: 1, ...times, reason: 'test', ...copied(eventOf(id)) });
  };
  return {
    sink,
    /** Ids are `<visitor>:<name>`; returns the sequence of the frame. */
    putFresh: (ids: readonly string[]) =>
      put(
        eventsSubject(accountId, 0),
        ids.map((id) => encodeResolved(eventOf(id))),
      ),
    putRetries: (tier: number, ids: readonly string[]) => put(retrySubject(destinationId, tier), ids.map(record)),
    retriesLeft: async () =>
      (await countBySubject(connection, streams.retry, retriesOfDestination(destinationId))).size,
    async letters(): Promise<readonly DeadLetter[]> {
      const letters: DeadLetter[] = [];
      for (let seq = 1; ;) {
        const found = await readNext(connection, streams.deadLetters, deadLetterSubject(destinationId), seq);
        if (found === undefined) return letters;
        const letter = decodeDeadLetter(found.data);
        if (letter !== undefined) letters.push(letter);
        seq = found.seq + 1;
      }
    },
    /** Quarantined frames, as the supervisor logs them. */
    quarantined: () => errors.flatMap(({ log, seq }) => (seq === undefined ? [] : [{ log, seq }])),
    start(): void {
      const host = new URL('./testing/poisoned-host.ts', import.meta.url);
      const pool = createPool({ threads: 1, heapMaxMib: 64, host });
      pool.on('error', () => undefined);
      const supervisor = new Supervisor({
        stopDeadlineMs: 5_000,
        silenceMaxMs: 30_000,
        pool,
        threads: 1,
        settings: {
          ...hostSettingsForTests,
          log: { url: asLogUser(nats.url, 'pipeline') },
          egress: { allowed: ['127.0.0.0/8'], denied: [] },
        },
        stats: createStatsLedger(),
        logger: pino(
          { level: 'error' },
          { write: (line: string) => void errors.push(JSON.parse(line) as (typeof errors)[number]) },
        ),
      });
      onTestFinished(async () => {
        await supervisor.stop(1_000);
        await pool.destroy();
      });
      supervisor.start();
      void supervisor.configure(accountId, 1, Buffer.from(JSON.stringify(config)));
      void supervisor.run({ kind: 'dispatcher', accountId, destinationId, publishedAtMs });
    },
  };
}

function eventOf(id: string): ResolvedEvent {
  const sample = sampleEvent({ id });
  const [visitor = ''] = id.split(':');
  return { ...sample, visitor: { ...sample.visitor, id: visitor } };
}

const deadly = `v:${poison}`;

test.each([
  ['a retry', 0],
  ['a replay', replayTier],
])(
  'poisoned retry: %s that kills its thread is quarantined after the second death, and other events continue',
  async (_what, tier) => {
    const rig = await openPoisonedRig();
    await rig.putRetries(tier, ['a:before']);
    const seq = await rig.putRetries(tier, [deadly]);
    await rig.putRetries(tier, ['b:after', 'c:after']);
    if (tier !== replayTier) await rig.putRetries(parkedTier, ['v:behind', 'v:last']);
    const innocent = ['a:before', 'b:after', 'c:after', ...(tier === replayTier ? [] : ['v:behind', 'v:last'])];
    for (let i = 0; i < 20; i += 1) {
      await rig.putFresh([`f${i}:fresh`, `g${i}:fresh`]);
      innocent.push(`f${i}:fresh`, `g${i}:fresh`);
    }
    rig.start();
    await until('all others arrived', () => innocent.every((id) => rig.sink.taken().includes(id)));
    await until('the retry log is empty', async () => (await rig.retriesLeft()) === 0);
    const letters = await rig.letters();
    expect(letters.map(({ event, attempts, reason }) => ({ id: event.event.id, attempts, reason }))).toEqual([
      { id: deadly, attempts: 1, reason: quarantineReason },
    ]);
    expect(rig.quarantined()).toEqual([{ log: 'retry', seq }]);
    expect(rig.sink.taken().filter((id) => id.startsWith('v:'))).toEqual(
      tier === replayTier ? [] : ['v:behind', 'v:last'],
    );
  },
);

test('poisoned retry: a parked event is quarantined alone; events of other visitors in its frame are not', async () => {
  const rig = await openPoisonedRig();
  await rig.putRetries(0, ['v:first', 'w:first']);
  const seq = await rig.putRetries(parkedTier, ['v:second', 'w:second', deadly, 'w:third', 'v:last']);
  await rig.putFresh(['a:fresh', 'v:fresh']);
  rig.start();
  const innocent = ['w:first', 'w:second', 'w:third', 'v:first', 'v:second', 'v:last', 'v:fresh', 'a:fresh'];
  await until('all others arrived', () => innocent.every((id) => rig.sink.taken().includes(id)));
  await until('the retry log is empty', async () => (await rig.retriesLeft()) === 0);
  expect((await rig.letters()).map(({ event, reason }) => `${event.event.id}: ${reason}`)).toEqual([
    `${deadly}: ${quarantineReason}`,
  ]);
  expect(rig.quarantined()).toEqual([{ log: 'retry', seq }]);
  const firsts = [...new Set(rig.sink.taken())];
  expect(firsts.filter((id) => id.startsWith('v:'))).toEqual(['v:first', 'v:second', 'v:last', 'v:fresh']);
  expect(firsts.filter((id) => id.startsWith('w:'))).toEqual(['w:first', 'w:second', 'w:third']);
});
