import { slots } from '../load/slots.ts';
import { runLoad } from '../load/load-process.ts';
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
import type { Stage } from '../system/stage.ts';
import { waitUntil } from '../machine/wait-until.ts';

const connections = 64;
const visitors = 1_000;
const servedDeadlineMs = 60_000;
const firstDeadlineMs = 60_000;

const kinds = {
  closed: 'known visitor, no impression, closed loop',
  half: 'known visitor, no impression, open loop at half',
  impression: 'known visitor, impression stored, closed loop',
} as const;
type Kind = keyof typeof kinds;

/** Assignments of visitors who have one, at the control plane; and the arithmetic of bucketing alone. */
export const experiments: Scenario = {
  name: 'experiments',
  summary: `assignments of known visitors, ${connections} connections, closed and open loop; bucketing alone`,
  bars: [
    { id: 'assignments', text: 'assignments of known visitors', limit: 10_000, unit: 'per_s', ask: 'at-least' },
    { id: 'bucketing', text: 'bucketing alone, one thread', limit: 1_000_000, unit: 'per_s', ask: 'at-least' },
  ],
  async run(context) {
    const loads: Record<Kind, LoadResult[]> = { closed: [], half: [], impression: [] };
    const bucketing: Round[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const measured = await measureOnce(context, round);
      for (const kind of Object.keys(kinds) as Kind[]) loads[kind].push(measured[kind]);
      bucketing.push(await bucketOnce(context, round));
    }
    const rows = (Object.keys(kinds) as Kind[]).map((kind): ResultRow => ({
      name: kinds[kind],
      figures: loadFigures(loads[kind]),
      series: loadSeries(loads[kind]),
    }));
    const alone = figureOf('per_s', 'more', bucketing);
    return {
      settings: { connections, visitors, controlPlanes: 1 },
      rows: [...rows, { name: 'bucketing alone', figures: { 'events/s': alone } }],
      measured: { assignments: rows[0]?.figures['events/s']?.value ?? Number.NaN, bucketing: alone.value },
    };
  },
};

function measureOnce(context: ScenarioContext, round: number): Promise<Record<Kind, LoadResult>> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const log = await stage.startLog();
    const client = await startControlClient(stage, log.url, await stage.createDatabase());
    const token = await publishExperiment(client);
    const url = `${client.service.url}/experiments/assignments/button`;
    await waitUntil('the experiment to be served', servedDeadlineMs, () => notServedReason(url, token));
    const run = async (kind: Kind, own: { readonly ratePerS?: number }): Promise<LoadResult> => {
      progress.step(`${kinds[kind]}, round ${round}`, seconds + warmUpSeconds);
      const body = JSON.stringify({
        token,
        visitor_id: `visitor-${slots.visitor}`,
        track_impression: kind === 'impression',
      });
      const times = timesOf(context);
      const order = { url, bodies: [body], connections, visitors, ...times, ...own };
      const load = await runLoad(stage, order, ({ perSecond }) => progress.note(`${Math.round(perSecond)}/s`));
      assertAllAccepted(kinds[kind], load);
      return load;
    };
    await makeKnown(stage, { url, token }, context);
    const closed = await run('closed', {});
    const half = await run('half', { ratePerS: closed.answersPerS / 2 });
    return { closed, half, impression: await run('impression', {}) };
  });
}

/** Asks until every visitor has an assignment: the first one is a write, and what is measured is the reading. */
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
    // A generator names all visitors in turn, so as many answers are one for each.
    if (load.answers >= visitors) return;
    if (measureMs > firstDeadlineMs) throw new Error('measuring experiments: first assignments take too long');
  }
}

/** A running experiment of two variants; returns the token that asks for it. */
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
