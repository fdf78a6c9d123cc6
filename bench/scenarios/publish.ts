import { createLatencies, percentilesOf, recordMs } from '../load/load-recorder.ts';
import { figureOf } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { startControlClient } from '../system/control-client.ts';
import type { ControlClient } from '../system/control-client.ts';
import { readMetrics } from '../system/metrics-page.ts';
import { startGateway, startPipeline } from '../system/services.ts';
import type { Service } from '../system/services.ts';
import { sleep, waitUntil } from '../machine/wait-until.ts';

const many = 1_000;
const liveDeadlineMs = 60_000;
/** Each look at the pipeline's metrics takes it some milliseconds: closer together they would take the processors from what is measured. */
const pollMs = 10;
const createdAtOnce = 8;
/** Frequent publishing uses up the account's cost budget of the configuration readers; after this time it has recovered. */
const calmMs = 5_000;

/** Times of each publish of one round, in ms from when the publish was asked for. */
type Publishes = {
  readonly gateway: readonly number[];
  readonly pipeline: readonly number[];
  readonly all: readonly number[];
  readonly answered: readonly number[];
};

/** From the publish of a version until every process runs it, seen from outside. */
export const publish: Scenario = {
  name: 'publish',
  summary: `from a publish after a calm until every process runs it, with 1 and ${many.toLocaleString('en-US')} sources`,
  bars: [
    { id: 'p99', text: `live in every process with ${many} sources, p99`, limit: 250, unit: 'ms', ask: 'at-most' },
  ],
  async run(context) {
    const counts = [1, many];
    const measured = new Map<number, Publishes[]>(counts.map((count) => [count, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const count of counts) {
        const found = await context.attempt(`${count} sources`, () => measureOnce(context, count, round));
        if (found !== undefined) measured.get(count)?.push(found);
      }
    }
    const rows = counts.map((count): ResultRow => {
      const rounds = measured.get(count) ?? [];
      const figure = (of: keyof Publishes, percentile: 'p50' | 'p99'): Figure =>
        figureOf(
          'ms',
          'less',
          rounds.map((round) => ({ value: percentileOf(round[of], percentile), readings: round[of] })),
        );
      return {
        name: count === 1 ? '1 source' : `${count} sources`,
        figures: {
          'gateway p50': figure('gateway', 'p50'),
          'gateway p99': figure('gateway', 'p99'),
          'pipeline p50': figure('pipeline', 'p50'),
          'pipeline p99': figure('pipeline', 'p99'),
          'all p50': figure('all', 'p50'),
          'all p99': figure('all', 'p99'),
          'answered p50': figure('answered', 'p50'),
        },
      };
    });
    return {
      settings: {
        publishesPerRound: publishesOf(context),
        calmMs,
        probe: 'a track with a key that only the new version has',
      },
      rows,
      measured: { p99: rows[1]?.figures['all p99']?.value ?? Number.NaN },
    };
  },
};

const publishesOf = ({ isQuick }: ScenarioContext): number => (isQuick ? 5 : 20);

function percentileOf(times: readonly number[], percentile: 'p50' | 'p99'): number {
  const histogram = createLatencies();
  for (const time of times) recordMs(histogram, time);
  return percentilesOf(histogram)[percentile];
}

function measureOnce(context: ScenarioContext, sources: number, round: number): Promise<Publishes> {
  const { progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${sources} sources, round ${round}`, 10 + (publishesOf(context) * calmMs) / 1_000);
    const log = await stage.startLog();
    const databaseUrl = await stage.createDatabase();
    const client = await startControlClient(stage, log.url, databaseUrl);
    const gateway = await startGateway(stage, log.url);
    const pipeline = await startPipeline(stage, log.url, databaseUrl);
    await createSources(client, sources - 1);
    await client.publish();
    const times = { gateway: [] as number[], pipeline: [] as number[], all: [] as number[], answered: [] as number[] };
    for (let index = 0; index < publishesOf(context); index += 1) {
      await sleep(calmMs);
      const once = await publishOnce(client, gateway, pipeline);
      times.gateway.push(once.gatewayMs);
      times.pipeline.push(once.pipelineMs);
      times.all.push(Math.max(once.gatewayMs, once.pipelineMs));
      times.answered.push(once.answeredMs);
      progress.note(`${Math.round(Math.max(once.gatewayMs, once.pipelineMs))} ms`);
    }
    return times;
  });
}

async function createSources(client: ControlClient, count: number): Promise<void> {
  let left = count;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.call('POST', 'sources', { type: 'NodejsApi', name: `Source ${left}` });
    }
  };
  await Promise.all(Array.from({ length: createdAtOnce }, work));
}

type Once = { readonly gatewayMs: number; readonly pipelineMs: number; readonly answeredMs: number };

/** Publishes one more source: the gateway has it once it takes its key, the pipeline once it says a newer revision. */
async function publishOnce(client: ControlClient, gateway: Service, pipeline: Service): Promise<Once> {
  const source = await client.call('POST', 'sources', { type: 'NodejsApi', name: 'New' });
  const { token } = await client.call('GET', `sources/${String(source['id'])}/tokens`);
  const before = await revisionOf(pipeline);
  let sentMs = Number.NaN;
  let sent: () => void = () => undefined;
  const sending = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const publishing = client.publish(() => {
    sentMs = performance.now();
    sent();
  });
  await Promise.race([sending, publishing]);
  const since = async (waiting: Promise<unknown>): Promise<number> => {
    await waiting;
    return performance.now() - sentMs;
  };
  const [gatewayMs, pipelineMs, answeredMs] = await Promise.all([
    since(waitUntil('the gateway', liveDeadlineMs, () => refusalOf(gateway, String(token)), pollMs)),
    since(
      waitUntil(
        'the pipeline',
        liveDeadlineMs,
        async () => ((await revisionOf(pipeline)) > before ? undefined : 'an older revision'),
        pollMs,
      ),
    ),
    since(publishing),
  ]);
  return { gatewayMs, pipelineMs, answeredMs };
}

async function refusalOf(gateway: Service, token: string): Promise<string | undefined> {
  const answer = await fetch(`${gateway.url}/api/v1/track`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, event: 'Probe' }),
    signal: AbortSignal.timeout(5_000),
  });
  await answer.arrayBuffer();
  return answer.ok ? undefined : `it answers ${answer.status}`;
}

async function revisionOf(service: Service): Promise<number> {
  return (await readMetrics(service.metricsUrl)).sum('sluice_config_revision');
}
