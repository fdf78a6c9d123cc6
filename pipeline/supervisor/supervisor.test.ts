import type { MessagePort } from 'node:worker_threads';
import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { createBlackBox } from '../threads/black-box.ts';
import type { BlackBox } from '../threads/black-box.ts';
import type { HostTask } from '../threads/host.ts';
import type { Command, Report, WireError } from '../threads/messages.ts';
import { createDispatcherCounts } from '../workers/dispatch/dispatcher-stats.ts';
import type { ActorFigures, ActorSpec } from '../workers/registry.ts';
import { suspectLogs } from '../workers/worker/suspicion.ts';
import { createStatsLedger } from './stats-ledger.ts';
import { Supervisor } from './supervisor.ts';
import { hostSettingsForTests } from './testing/host-settings.ts';

/** A fake host: records the messages that it receives, and sends those that a test wants. */
type FakeHost = {
  readonly thread: number;
  readonly told: Command[];
  readonly blackBox: BlackBox;
  say(report: Report): void;
  die(error: Error): void;
  readonly port: MessagePort;
};

const stopping: Supervisor[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(stopping.splice(0).map((supervisor) => supervisor.stop(0)));
});

/** A supervisor over fake hosts that start each requested actor, except those in `failing`. */
function supervise(threads: number, failing: (actorId: string) => boolean = () => false, error: WireError = broken) {
  const hosts: FakeHost[] = [];
  const terminated: number[] = [];
  const pool = {
    threads: Array.from({ length: 100 }, (_, threadId) => ({
      threadId,
      terminate: async () => {
        terminated.push(threadId);
        hosts[threadId]?.die(new Error('terminated'));
      },
    })),
    run: ({ port, settings, blackBox }: HostTask): Promise<void> =>
      new Promise((resolve, reject) => {
        const told: Command[] = [];
        const say = (report: Report): void => port.postMessage(report);
        const host: FakeHost = {
          thread: settings.thread,
          told,
          blackBox: createBlackBox(blackBox),
          say,
          port,
          die: (error) => {
            port.close();
            reject(error);
          },
        };
        const threadId = hosts.push(host) - 1;
        port.on('message', (command: Command) => {
          told.push(command);
          if (command.kind === 'shutdown') {
            port.close();
            resolve();
          } else if (command.kind === 'start') {
            if (failing(command.actorId)) say({ kind: 'ended', actorId: command.actorId, error });
            else say({ kind: 'started', actorId: command.actorId });
          } else if (command.kind === 'stop') {
            say({ kind: 'ended', actorId: command.actorId, last: delivered(command.actorId, 1) });
          } else if (command.kind === 'configure') {
            say({ kind: 'configured', accountId: command.accountId, revision: command.revision });
          }
        });
        say({ kind: 'ready', threadId, taskId: undefined });
      }),
  };
  const stats = createStatsLedger();
  const supervisor = new Supervisor({
    stopDeadlineMs: 20_000,
    silenceMaxMs: 30_000,
    pool,
    threads,
    settings: hostSettingsForTests,
    stats,
    logger: pino({ level: 'silent' }),
  });
  stopping.push(supervisor);
  supervisor.start();
  return { supervisor, hosts, stats, terminated };
}

const delivered = (actorId: string, events: number): ActorFigures<'dispatcher'> => ({
  kind: 'dispatcher',
  key: actorId.slice('dispatcher-'.length),
  stats: { ...createDispatcherCounts(), delivered: events },
});

const broken: WireError = { code: 'broken', message: 'it is broken', stack: '' };

const resolver = (partition: number): ActorSpec => ({ kind: 'resolver', partition });
const dispatcher = (destinationId: string): ActorSpec => ({
  kind: 'dispatcher',
  accountId: 'a',
  destinationId,
  publishedAtMs: 0,
});
const startsOf = (host: FakeHost | undefined): string[] =>
  (host?.told ?? []).flatMap((command) => (command.kind === 'start' ? [command.actorId] : []));

test('supervisor: placement: actors of each kind are spread evenly over all threads', async () => {
  const { supervisor, hosts } = supervise(2);
  const specs = [...[0, 1, 2, 3].map(resolver), ...['x', 'y'].map(dispatcher)];
  await Promise.all(specs.map((spec) => supervisor.run(spec)));
  for (const host of hosts) {
    expect(startsOf(host).filter((id) => id.startsWith('resolver'))).toHaveLength(2);
    expect(startsOf(host).filter((id) => id.startsWith('dispatcher'))).toHaveLength(1);
  }
  expect(supervisor.states).toMatchObject({ running: 6, waiting: 0, starting: 0 });
});

test('supervisor: failure: an actor that fails is restarted with back-off, and no other actor is restarted', async () => {
  let failures = 3;
  const { supervisor, hosts, stats } = supervise(1, (id) => id === 'dispatcher-bad' && (failures -= 1) >= 0);
  await Promise.all([supervisor.run(dispatcher('bad')), supervisor.run(dispatcher('good'))]);
  await vi.waitFor(() => expect(supervisor.states.running).toBe(2), { timeout: 45_000 });
  expect(startsOf(hosts[0]).filter((id) => id === 'dispatcher-bad')).toHaveLength(4);
  expect(startsOf(hosts[0]).filter((id) => id === 'dispatcher-good')).toHaveLength(1);
  expect(stats.restarts.get('dispatcher')).toBe(3);
});

test('supervisor: quarantine: an actor that fails repeatedly is quarantined, and the other actors keep running', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { supervisor } = supervise(1, (id) => id === 'dispatcher-bad');
  void supervisor.run(dispatcher('bad'));
  void supervisor.run(dispatcher('good'));
  for (let i = 0; i < 200 && supervisor.states.quarantined === 0; i += 1) {
    await vi.advanceTimersByTimeAsync(5_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(supervisor.states).toMatchObject({ quarantined: 1, running: 1 });
});

test('supervisor: quarantine: no actor is paused for failures of the log, however long they last', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isLogAway = true;
  const { supervisor, stats } = supervise(1, () => isLogAway, { ...broken, isBlameless: true });
  void supervisor.run(dispatcher('d'));
  const turn = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(2_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (let i = 0; i < 100 && (stats.restarts.get('dispatcher') ?? 0) < 30; i += 1) await turn();
  expect(supervisor.states.quarantined).toBe(0);
  isLogAway = false;
  for (let i = 0; i < 5 && supervisor.states.running === 0; i += 1) await turn();
  expect(supervisor.states.running).toBe(1);
});

test('supervisor: thread death: its actors continue on the other threads, and the thread is started again', async () => {
  const { supervisor, hosts, stats } = supervise(2);
  await Promise.all([0, 1, 2, 3].map((partition) => supervisor.run(resolver(partition))));
  hosts[0]?.die(new Error('out of memory'));
  await vi.waitFor(() => expect(startsOf(hosts[1])).toHaveLength(4), { timeout: 45_000 });
  expect(stats.threadDeaths).toBe(1);
  await vi.waitFor(() => expect(supervisor.threadsReady).toBe(2), { timeout: 45_000 });
});

test('supervisor: thread death: if the only thread dies, its actors run again in the thread that replaces it', async () => {
  const { supervisor, hosts } = supervise(1);
  await supervisor.run(resolver(0));
  await supervisor.configure('a', 1, new Uint8Array([1]));
  hosts[0]?.die(new Error('out of memory'));
  await vi.waitFor(() => expect(startsOf(hosts[1])).toEqual(['resolver-0']), { timeout: 45_000 });
  expect(hosts[1]?.told[0]).toMatchObject({ kind: 'configure', accountId: 'a', revision: 1 });
});

test('supervisor: thread death: an actor that kills its threads is quarantined, and the other actors continue', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { supervisor, hosts, stats } = supervise(2);
  await Promise.all(['bad', 'good', 'fine'].map((id) => supervisor.run(dispatcher(id))));
  const liveHostOfBad = (): FakeHost | undefined =>
    hosts.findLast(({ told }) =>
      told.some((command) => command.kind === 'start' && command.actorId === 'dispatcher-bad'),
    );
  for (let death = 0; death < 3; death += 1) {
    const host = liveHostOfBad();
    const start = host?.told.find((command) => command.kind === 'start' && command.actorId === 'dispatcher-bad');
    host?.blackBox.turn(start?.kind === 'start' ? start.mark : 0);
    host?.die(new Error('out of memory'));
    const isOver = (): boolean => {
      const { running, quarantined } = supervisor.states;
      return stats.threadDeaths === death + 1 && running + quarantined === 3;
    };
    for (let i = 0; i < 50 && !isOver(); i += 1) {
      await vi.advanceTimersByTimeAsync(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  expect(supervisor.states).toMatchObject({ quarantined: 1, running: 2 });
});

test.each(suspectLogs)(
  'supervisor: thread death: a frame of its %s that was in work at two deaths is quarantined, however the thread died',
  async (log) => {
    const nothing = { watched: undefined, quarantined: [] };
    const suspected = { log: nothing, retry: nothing, [log]: { watched: { from: 3, to: 18 }, quarantined: [] } };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const { supervisor, hosts } = supervise(1);
    await supervisor.run(resolver(0));
    const startOf = async (life: number): Promise<Extract<Command, { kind: 'start' }>> => {
      for (let i = 0; i < 50; i += 1) {
        const start = hosts[life]?.told.find((command) => command.kind === 'start');
        if (start?.kind === 'start') return start;
        await vi.advanceTimersByTimeAsync(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      throw new Error('it was not started again');
    };
    const first = await startOf(0);
    expect(first.suspicion).toEqual({ log: nothing, retry: nothing });
    hosts[0]?.blackBox.turn(first.mark, { [log]: { from: 3, to: 18 } });
    hosts[0]?.die(Object.assign(new Error('out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
    const second = await startOf(1);
    expect(second.suspicion).toEqual(suspected);
    hosts[1]?.blackBox.turn(second.mark, { [log]: { from: 7, to: 7 } });
    // This death comes from outside, so no frame is to blame.
    hosts[1]?.die(new Error('the worker exited'));
    const third = await startOf(2);
    expect(third.suspicion).toEqual(suspected);
    hosts[2]?.blackBox.turn(third.mark, { [log]: { from: 7, to: 7 } });
    // The actor is in an endless loop, so its thread stops reporting and is ended.
    await vi.advanceTimersByTimeAsync(31_000);
    expect((await startOf(3)).suspicion).toEqual({
      ...suspected,
      [log]: { watched: { from: 3, to: 18 }, quarantined: [{ seq: 7 }] },
    });
  },
);

test('supervisor: hang: a silent thread is ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  const { supervisor, terminated, stats } = supervise(1);
  await supervisor.run(resolver(0));
  await vi.advanceTimersByTimeAsync(29_000);
  expect(terminated).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(terminated).toEqual([0]);
  expect([stats.threadDeaths, stats.silentDeaths]).toEqual([1, 1]);
});

test('supervisor: configuration: a configuration is applied once every live thread has it', async () => {
  const { supervisor, hosts } = supervise(2);
  await supervisor.run(resolver(0));
  await supervisor.configure('a', 7, new Uint8Array([1, 2]));
  for (const { told } of hosts)
    expect(told).toContainEqual(expect.objectContaining({ kind: 'configure', revision: 7 }));
});

test('supervisor: remove: stops an actor for good; running it again starts a new one', async () => {
  const { supervisor, hosts, stats } = supervise(1);
  await supervisor.run(dispatcher('d'));
  const removed = supervisor.remove('dispatcher-d');
  const again = supervisor.run(dispatcher('d'));
  await Promise.all([removed, again]);
  expect(hosts[0]?.told.map(({ kind }) => kind)).toEqual(['start', 'stop', 'start']);
  expect(supervisor.states.running).toBe(1);
  expect(stats.totals('dispatcher', 'delivered').get('d')).toBe(1);
});

test('supervisor: remove: an actor that is wanted again while it stops, and then removed, is not started', async () => {
  const { supervisor, hosts } = supervise(1);
  await supervisor.run(dispatcher('d'));
  const removed = supervisor.remove('dispatcher-d');
  const again = supervisor.run(dispatcher('d'));
  await Promise.all([removed, again, supervisor.remove('dispatcher-d')]);
  expect(hosts[0]?.told.map(({ kind }) => kind)).toEqual(['start', 'stop']);
  // The last order counts, however often the actor was wanted and removed while it stopped.
  await supervisor.run(dispatcher('d'));
  const orders = [supervisor.remove('dispatcher-d'), supervisor.run(dispatcher('d'))];
  orders.push(supervisor.remove('dispatcher-d'), supervisor.run(dispatcher('d')));
  await Promise.all(orders);
  expect(hosts[0]?.told.map(({ kind }) => kind)).toEqual(['start', 'stop', 'start', 'stop', 'start']);
  expect(supervisor.states.running).toBe(1);
});

test('supervisor: skipping: a quarantined actor skips its log once it runs again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let isFailing = true;
  const { supervisor, hosts } = supervise(1, () => isFailing);
  const spec: ActorSpec = { kind: 'dispatcher', accountId: 'a', destinationId: 'd', publishedAtMs: 0 };
  void supervisor.run(spec);
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(supervisor.states.quarantined).toBe(1);
  });
  supervisor.passOver('dispatcher-d', 7);
  isFailing = false;
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(hosts[0]?.told.at(-1)).toEqual({ kind: 'pass-over', actorId: 'dispatcher-d', upToSeq: 7 });
  });
});

test('supervisor: skipping: a request to skip is not sent again after a restart, because the log may have been lost since', async () => {
  const { supervisor, hosts } = supervise(1);
  await supervisor.run(dispatcher('d'));
  supervisor.passOver('dispatcher-d', 7);
  hosts[0]?.say({ kind: 'ended', actorId: 'dispatcher-d', error: broken });
  await vi.waitFor(() => expect(startsOf(hosts[0])).toHaveLength(2), { timeout: 45_000 });
  await vi.waitFor(() => expect(supervisor.states.running).toBe(1), { timeout: 45_000 });
  expect(hosts[0]?.told.map(({ kind }) => kind)).toEqual(['start', 'pass-over', 'start']);
});
