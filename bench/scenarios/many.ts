import { familyMemoryBytes } from '../machine/process-use.ts';
import { sleep, waitUntil } from '../machine/wait-until.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import type { BenchAccount } from '../config/account-document.ts';
import { accountDocument, publishAccounts } from '../config/account-document.ts';
import { accountIdOf, destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { medianOf, plainFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import type { Sink } from '../sink/sink.ts';
import { startSink } from '../sink/sink.ts';
import { openRollouts } from '../config/rollouts.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { assertNoneRefused, startGateway, startPipeline } from '../system/services.ts';
import { cpuMsOf, startLog } from '../whole-path/whole-path.ts';

const group = 'in';
/**
 * Deliveries per second in every subject, however many deliveries an event causes, so that costs are compared at one
 * rate.
 */
const deliveriesPerS = 500;
/** Maximum number of accounts that receive events, each through a separate connection. */
const activeAccountsMax = 250;
const publishes = 10;
const liveDeadlineMs = 60_000;
const arriveDeadlineMs = 120_000;
/** Default maximum size of a message in the log, and thus of an account's published configuration. */
const documentBytesMax = 8 * 1024 ** 2;
/** Divisor of the number of accounts in a quick run. */
const quickDivisor = 10;

type Subject = {
  readonly name: string;
  readonly accounts: number;
  readonly destinationsEach: number;
  readonly sourcesEach: number;
};

const subjects: readonly Subject[] = [
  { name: '1 account, 1 destination, 1 source', accounts: 1, destinationsEach: 1, sourcesEach: 1 },
  { name: '1,000 accounts, a destination each', accounts: 1_000, destinationsEach: 1, sourcesEach: 1 },
  { name: '10,000 destinations, 10 an account', accounts: 1_000, destinationsEach: 10, sourcesEach: 1 },
  { name: '100,000 sources, 100 an account', accounts: 1_000, destinationsEach: 1, sourcesEach: 100 },
];

/** How many more destinations the third subject has than the second. */
const furtherDestinations = 9_000;

type Measured = {
  readonly gatewayStartS: number;
  readonly pipelineStartS: number;
  readonly gatewayBytes: number;
  readonly pipelineBytes: number;
  readonly logBytes: number;
  /** Number of cores that all processes together use without events. */
  readonly idleShare: number;
  readonly publishMs: number;
  readonly deliveryMs: number;
  readonly p99Ms: number;
};

/** Installations with many accounts, destinations or sources in one gateway and one pipeline. */
export const many: Scenario = {
  name: 'many',
  isLong: true,
  summary: '1,000 accounts, 10,000 destinations, 100,000 sources in one process: start, memory, publish, cost',
  bars: [
    { id: 'start', text: 'start of the pipeline with 10,000 destinations', limit: 50, unit: 's', ask: 'at-most' },
    { id: 'memory', text: 'memory of an additional destination', limit: 64 * 1024, unit: 'bytes', ask: 'at-most' },
    { id: 'publish', text: 'publish of one account among 1,000, median', limit: 250, unit: 'ms', ask: 'at-most' },
  ],
  async run(context) {
    const measured = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const subject of subjects) {
        const found = await context.attempt(subject.name, () => measureOnce(context, subject, round));
        if (found !== undefined) measured.get(subject)?.push(found);
      }
    }
    const rows = subjects.map((subject) => rowOf(subject, measured.get(subject) ?? []));
    const value = (row: number, figure: string): number => rows[row]?.figures[figure]?.value ?? Number.NaN;
    return {
      settings: { deliveriesPerS, activeAccountsMax, publishes, ...(context.isQuick ? { quickDivisor } : {}) },
      rows,
      // Results with a tenth of the accounts do not predict the results with all accounts.
      measured: context.isQuick
        ? {}
        : {
            start: value(2, 'pipeline start'),
            memory: (value(2, 'pipeline') - value(1, 'pipeline')) / furtherDestinations,
            publish: value(1, 'publish'),
          },
      advice: [
        `one account: ${sourcesThatFit().toLocaleString('en-US')} sources, then its configuration is over 8 MiB`,
      ],
    };
  },
};

/** Number of sources of an account whose configuration just fits into one message of the log. */
function sourcesThatFit(): number {
  const sample = 1_000;
  const bytesOf = (moreSources: number): number =>
    JSON.stringify(accountDocument({ accountId: accountIdOf(1), token: 'one', moreSources })).length;
  return Math.floor(documentBytesMax / ((bytesOf(sample) - bytesOf(0)) / sample));
}

function rowOf({ name }: Subject, rounds: readonly Measured[]): ResultRow {
  const figure = (unit: Figure['unit'], read: (found: Measured) => number): Figure =>
    plainFigure(unit, 'less', rounds.map(read));
  return {
    name,
    figures: {
      'gateway start': figure('s', ({ gatewayStartS }) => gatewayStartS),
      'pipeline start': figure('s', ({ pipelineStartS }) => pipelineStartS),
      gateway: figure('bytes', ({ gatewayBytes }) => gatewayBytes),
      pipeline: figure('bytes', ({ pipelineBytes }) => pipelineBytes),
      log: figure('bytes', ({ logBytes }) => logBytes),
      'idle, of a core': figure('ratio', ({ idleShare }) => idleShare),
      publish: figure('ms', ({ publishMs }) => publishMs),
      'CPU a delivery': figure('ms', ({ deliveryMs }) => deliveryMs),
      p99: figure('ms', ({ p99Ms }) => p99Ms),
    },
  };
}

function measureOnce(context: ScenarioContext, given: Subject, round: number): Promise<Measured> {
  const { seconds, warmUpSeconds, progress, isQuick } = context;
  const subject = { ...given, accounts: isQuick ? Math.ceil(given.accounts / quickDivisor) : given.accounts };
  return context.stage.scoped(async (stage) => {
    progress.step(`${subject.name}, round ${round}`, 60);
    const sink = await startSink(stage);
    const log = await startLog(stage, {});
    const accounts = accountsOf(subject, sink);
    await publishAccounts(log.url, accounts);
    const databaseUrl = await stage.createDatabase();
    await migrate(databaseUrl);
    const timed = async <Started>(start: () => Promise<Started>): Promise<readonly [Started, number]> => {
      const startedMs = performance.now();
      return [await start(), (performance.now() - startedMs) / 1000];
    };
    const [gateway, gatewayStartS] = await timed(() => startGateway(stage, log.url));
    const [pipeline, pipelineStartS] = await timed(() => startPipeline(stage, log.url, databaseUrl));
    const path = { gateway, pipeline, natsPids: log.pids, postgresPid: await stage.postgresPid() };
    const spentMs = async (): Promise<number> => Object.values(await cpuMsOf(path)).reduce((sum, ms) => sum + ms, 0);

    progress.note('idle');
    await sleep(warmUpSeconds * 1000);
    const idleFrom = { atMs: performance.now(), spentMs: await spentMs() };
    await sleep(seconds * 1000);
    const idleShare = ((await spentMs()) - idleFrom.spentMs) / (performance.now() - idleFrom.atMs);
    const [gatewayBytes, pipelineBytes, logBytes] = await Promise.all(
      [gateway.pid, pipeline.pid, log.pids[0] ?? 0].map(familyMemoryBytes),
    );

    progress.note('publishing');
    const publishMs = await publishSome(log.url, accounts);

    progress.note('events');
    const send = async (measureMs: number): Promise<number> => {
      const before = (await sink.group(group)).events;
      const active = accounts.slice(0, activeAccountsMax);
      const load = await runLoad(stage, {
        url: `${gateway.url}/api/v1/track`,
        bodies: active.map(({ token = '' }) => trackBody(token)),
        connections: active.length,
        ratePerS: deliveriesPerS / subject.destinationsEach,
        warmUpMs: 0,
        measureMs,
      });
      assertAllAccepted(subject.name, load);
      const deliveries = load.acceptedInAll * subject.destinationsEach;
      await waitUntil('the events to arrive', arriveDeadlineMs, async () => {
        const arrived = (await sink.group(group)).events - before;
        return arrived >= deliveries ? undefined : `${arrived} of ${deliveries}`;
      });
      return deliveries;
    };
    await send(warmUpSeconds * 1000);
    sink.forget();
    const beforeMs = await spentMs();
    const deliveries = await send(seconds * 1000);
    const deliveryMs = ((await spentMs()) - beforeMs) / deliveries;
    await assertNoneRefused(pipeline);
    return {
      gatewayStartS,
      pipelineStartS,
      gatewayBytes: gatewayBytes ?? Number.NaN,
      pipelineBytes: pipelineBytes ?? Number.NaN,
      logBytes: logBytes ?? Number.NaN,
      idleShare,
      publishMs: medianOf(publishMs),
      deliveryMs,
      p99Ms: (await sink.group(group)).overallMs.p99,
    };
  });
}

function accountsOf({ accounts, destinationsEach, sourcesEach }: Subject, sink: Sink): readonly BenchAccount[] {
  return Array.from({ length: accounts }, (_, account) => ({
    accountId: accountIdOf(account),
    token: `src_live_many_${account}`,
    moreSources: sourcesEach - 1,
    destinations: Array.from({ length: destinationsEach }, (_, index) => {
      const number = account * destinationsEach + index;
      return { id: destinationIdOf(number), url: sink.urlOf(`${group}/${number}`) };
    }),
  }));
}

/** Times in ms from writing an account's configuration until the gateway and the pipeline run it, for some accounts. */
async function publishSome(natsUrl: string, accounts: readonly BenchAccount[]): Promise<readonly number[]> {
  const rollouts = await openRollouts(natsUrl, 2, liveDeadlineMs);
  try {
    const took: number[] = [];
    for (let index = 0; index < publishes; index += 1) {
      const account = accounts[index % accounts.length];
      if (account !== undefined) took.push(await rollouts.publish(account));
    }
    return took;
  } finally {
    await rollouts.close();
  }
}
