import { Client } from 'pg';
import { slots } from '../load/slots.ts';
import { runLoad } from '../load/load-process.ts';
import { runWatchedLoad } from '../load/run-watched-load.ts';
import type { WatchedLoad } from '../load/run-watched-load.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { figureOf, meanOf } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { startControlClient } from '../system/control-client.ts';
import type { ControlClient } from '../system/control-client.ts';
import { gcFigures } from '../system/gc-watch.ts';
import { startGateway } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { waitUntil } from '../machine/wait-until.ts';

const connections = 64;
const visitors = 1_000;
/** A limit above any load, because the scenario measures the path and not the account's limit. */
const unlimited = {
  EXPERIMENT_ASSIGNMENTS_PER_S: '1000000',
};
const servedDeadlineMs = 60_000;
const firstDeadlineMs = 60_000;

const kinds = {
  closed: 'known visitor, no impression, closed loop',
  half: 'known visitor, no impression, open loop at half',
  impression: 'known visitor, impression stored, closed loop',
  first: 'new visitor, first assignment, closed loop',
  gatewayClosed: 'known visitor, through the gateway',
  gatewayFirst: 'new visitor, first assignment, through the gateway',
} as const;
type Kind = keyof typeof kinds;

/**
 * Assignments of visitors with and without an existing assignment, at the control plane and through the gateway; and
 * bucketing alone.
 */
export const experiments: Scenario = {
  name: 'experiments',
  summary: `assignments of known and new visitors, ${connections} connections, direct and through the gateway; bucketing alone`,
  bars: [
    { id: 'assignments', text: 'assignments of known visitors', limit: 10_000, unit: 'per_s', ask: 'at-least' },
    { id: 'first', text: 'first assignments', limit: 4_000, unit: 'per_s', ask: 'at-least' },
    { id: 'first-p99', text: 'first assignments, p99', limit: 50, unit: 'ms', ask: 'at-most' },
    {
      id: 'gateway-first',
      text: 'first assignments through the gateway',
      limit: 4_000,
      unit: 'per_s',
      ask: 'at-least',
    },
    { id: 'gateway-first-p99', text: 'the same, p99', limit: 50, unit: 'ms', ask: 'at-most' },
    {
      id: 'stored',
      text: 'stored fraction of the returned first assignments',
      limit: 1,
      unit: 'ratio',
      ask: 'at-least',
    },
    { id: 'bucketing', text: 'bucketing alone, one thread', limit: 1_000_000, unit: 'per_s', ask: 'at-least' },
  ],
  async run(context) {
    const all = Object.keys(kinds) as Kind[];
    const loads = new Map<Kind, WatchedLoad[]>(all.map((kind) => [kind, []]));
    const storedShares: number[] = [];
    const bucketing: Round[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const storedShare = await context.attempt('assignments', () => measureOnce(context, round, loads));
      if (storedShare !== undefined) storedShares.push(storedShare);
      const alone = await context.attempt('bucketing alone', () => bucketOnce(context, round));
      if (alone !== undefined) bucketing.push(alone);
    }
    const rows = all.map((kind): ResultRow => {
      const found = loads.get(kind) ?? [];
      const results = found.map(({ load }) => load);
      return {
        name: kinds[kind],
        figures: { ...loadFigures(results), ...gcFigures(found.map(({ gc }) => gc)) },
        series: loadSeries(results),
      };
    });
    const value = (kind: Kind, figure: string): number => rows[all.indexOf(kind)]?.figures[figure]?.value ?? Number.NaN;
    const alone = figureOf('per_s', 'more', bucketing);
    return {
      settings: { connections, visitors, controlPlanes: 1, unlimited },
      rows: [...rows, { name: 'bucketing alone', figures: { 'events/s': alone } }],
      measured: {
        assignments: value('closed', 'events/s'),
        first: value('first', 'events/s'),
        'first-p99': value('first', 'p99'),
        'gateway-first': value('gatewayFirst', 'events/s'),
        'gateway-first-p99': value('gatewayFirst', 'p99'),
        // A round that lost assignments is not made up for by the others.
        stored: storedShares.length === 0 ? Number.NaN : Math.min(...storedShares),
        bucketing: alone.value,
      },
    };
  },
};

/** Adds its measurements to `loads`. Returns the fraction of the answered first assignments that were stored. */
function measureOnce(
  context: ScenarioContext,
  round: number,
  loads: ReadonlyMap<Kind, WatchedLoad[]>,
): Promise<number> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const log = await stage.startLog();
    const databaseUrl = await stage.createDatabase();
    const client = await startControlClient(stage, log.url, databaseUrl, unlimited);
    const token = await publishExperiment(client);
    const url = `${client.service.url}/experiments/assignments/button`;
    await waitUntil('the experiment to be served', servedDeadlineMs, () => notServedReason(url, token));
    const gateway = await startGateway(stage, log.url, { env: { CONTROL_PLANE_URL: client.service.url } });
    const gatewayUrl = `${gateway.url}/api/v1/experiments/assignments/button`;
    await waitUntil('the gateway to serve it', servedDeadlineMs, () => notServedReason(gatewayUrl, token));
    const run = async (kind: Kind, own: { readonly ratePerS?: number } = {}): Promise<LoadResult> => {
      progress.step(`${kinds[kind]}, round ${round}`, seconds + warmUpSeconds);
      const body = JSON.stringify({
        token,
        visitor_id: isFirst(kind) ? `new-${slots.sequence}` : `visitor-${slots.visitor}`,
        track_impression: kind === 'impression',
      });
      const times = timesOf(context);
      const isThrough = kind === 'gatewayClosed' || kind === 'gatewayFirst';
      const services = isThrough ? [gateway, client.service] : [client.service];
      const order = { url: isThrough ? gatewayUrl : url, bodies: [body], connections, visitors, ...times, ...own };
      const watched = await runWatchedLoad(stage, services, order, {
        onWindow: ({ perSecond }) => progress.note(`${Math.round(perSecond)}/s`),
      });
      const { load } = watched;
      assertAllAccepted(kinds[kind], load);
      loads.get(kind)?.push(watched);
      return load;
    };
    // Runs first, with tables as empty as in a new installation.
    const first = await run('first');
    await makeKnown(stage, { url, token }, context);
    const closed = await run('closed');
    await run('half', { ratePerS: closed.answersPerS / 2 });
    await run('impression');
    await run('gatewayClosed');
    const gatewayFirst = await run('gatewayFirst');
    return (await countStored(databaseUrl)) / (first.acceptedInAll + gatewayFirst.acceptedInAll);
  });
}

const isFirst = (kind: Kind): boolean => kind === 'first' || kind === 'gatewayFirst';

/** Number of stored assignments of visitors who had no assignment before. */
async function countStored(databaseUrl: string): Promise<number> {
  const session = new Client({ connectionString: databaseUrl, query_timeout: firstDeadlineMs });
  await session.connect();
  try {
    const { rows } = await session.query<{ readonly stored: string }>(
      `SELECT count(*) AS stored FROM experiment_assignments WHERE visitor_id LIKE 'new-%'`,
    );
    return Number(rows[0]?.stored);
  } finally {
    await session.end();
  }
}

/**
 * Requests assignments until every visitor has an assignment: a visitor's first request is a write, and the scenario
 * measures reads.
 */
async function makeKnown(
  stage: Stage,
  { url, token }: { readonly url: string; readonly token: string },
  { progress }: ScenarioContext,
): Promise<void> {
  progress.step('visitors get their first assignment', 5);
  const body = JSON.stringify({ token, visitor_id: `visitor-${slots.visitor}`, track_impression: false });
  for (let measureMs = 2_000; ; measureMs *= 2) {
    const load = await runLoad(stage, { url, bodies: [body], connections, visitors, warmUpMs: 0, measureMs });
    assertAllAccepted('first assignments', load);
    // A generator uses all visitors in turn, so this number of responses includes at least one per visitor.
    if (load.answers >= visitors) return;
    if (measureMs > firstDeadlineMs) throw new Error('measuring experiments: first assignments take too long');
  }
}

/** Publishes a running experiment with two variants; returns the token for requests. */
async function publishExperiment(client: ControlClient): Promise<string> {
  const make = async (collection: string, body: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> =>
    client.call('POST', `collections/${collection}`, body);
  const { token } = await make('experimentSettings', {});
  const { id } = await make('experiments', { name: 'Button', key: 'button' });
  await make('experimentVariants', { experimentId: id, name: 'Blue', isControl: true });
  await make('experimentVariants', { experimentId: id, name: 'Green', weight: 50 });
  await client.call('POST', `collections/experiments/${String(id)}/start`);
  await client.publish();
  return String(token);
}

async function notServedReason(url: string, token: string): Promise<string | undefined> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, visitor_id: 'someone', track_impression: false }),
    signal: AbortSignal.timeout(5_000),
  });
  const text = await answer.text();
  return answer.ok && text.includes('"in_experiment":true') ? undefined : text;
}

function bucketOnce({ stage, progress, seconds, warmUpSeconds }: ScenarioContext, round: number): Promise<Round> {
  return stage.scoped(async (own) => {
    progress.step(`bucketing alone, round ${round}`, seconds + warmUpSeconds);
    const args = [warmUpSeconds * 1000, seconds * 1000].map(String);
    const child = await own.startChild({ name: 'bucketing', entry: 'bench/peers/bucketing-main', args });
    const readings = (await child.nextMessage()) as readonly number[];
    return { value: meanOf(readings), readings };
  });
}
