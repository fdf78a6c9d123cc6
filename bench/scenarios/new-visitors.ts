import { destinationIdOf } from '../config/ids.ts';
import { newVisitorBody, trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { WarmUp } from '../load/steady.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import { gcFigures, watchGc } from '../system/gc-watch.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { startWholePath } from '../whole-path/whole-path.ts';
import type { WholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 32;
const knownVisitors = 5_000;
const arriveDeadlineMs = 120_000;
const pollMs = 20;

type Kind = 'known' | 'new';
type Measured = {
  readonly perS: number;
  readonly takenPerS: number;
  readonly p50: number;
  readonly gc: GcWatch | undefined;
};

const names: Readonly<Record<Kind, string>> = {
  known: `${knownVisitors.toLocaleString('en-US')} visitors who are known`,
  new: 'a new visitor with every event',
};

/**
 * Rate of single events of new visitors, compared with single events of known visitors. A new visitor first needs a row
 * in PostgreSQL.
 */
export const newVisitors: Scenario = {
  name: 'new-visitors',
  summary: 'single events of new visitors and of known ones, from the first sent to the last delivered',
  bars: [
    { id: 'of-known', text: 'rate of new visitors against known ones', limit: 0.7, unit: 'ratio', ask: 'at-least' },
  ],
  async run(context) {
    const kinds = ['known', 'new'] as const;
    const measured: Record<Kind, Measured[]> = { known: [], new: [] };
    for (let round = 1; round <= context.rounds; round += 1) {
      const found = await context.attempt('single events', () => measureOnce(context, round));
      if (found === undefined) continue;
      for (const kind of kinds) measured[kind].push(found[kind]);
    }
    const of = (kind: Kind, read: (found: Measured) => number): number[] => measured[kind].map(read);
    const ofKnown = ratioFigure(
      of('new', ({ perS }) => perS),
      of('known', ({ perS }) => perS),
    );
    return {
      settings: {
        connections,
        knownVisitors,
        syncInterval: 'always',
        counted: 'from the first sent to the last delivered',
      },
      rows: kinds.map((kind): ResultRow => ({
        name: names[kind],
        figures: {
          'events/s': plainFigure(
            'per_s',
            'more',
            of(kind, ({ perS }) => perS),
          ),
          'taken/s': plainFigure(
            'per_s',
            'more',
            of(kind, ({ takenPerS }) => takenPerS),
          ),
          'answered p50': plainFigure(
            'ms',
            'less',
            of(kind, ({ p50 }) => p50),
          ),
          ...gcFigures(measured[kind].map(({ gc }) => gc)),
          ...(kind === 'new' ? { 'of known': ofKnown } : {}),
        },
      })),
      measured: { 'of-known': ofKnown.value },
    };
  },
};

function measureOnce(context: ScenarioContext, round: number): Promise<Record<Kind, Measured>> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const path = await startWholePath(stage, {
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`) }],
    });
    progress.step(`warming up, round ${round}`, warmUpSeconds);
    // Compiles code until the rate is steady, so that neither kind is measured on cold code.
    await send(context, path, 'known', timesOf({ ...context, seconds: 1 }));
    const measure = async (kind: Kind): Promise<Measured> => {
      progress.step(`${names[kind]}, round ${round}`, seconds + warmUpSeconds);
      // Afterwards every known visitor is cached.
      await send(context, path, kind, { warmUpMs: 0, measureMs: warmUpSeconds * 1000 });
      return send(context, path, kind, { warmUpMs: 0, measureMs: seconds * 1000 });
    };
    // The order alternates between rounds.
    if (round % 2 === 1) return { known: await measure('known'), new: await measure('new') };
    const first = await measure('new');
    return { known: await measure('known'), new: first };
  });
}

/** Sends as fast as requests are answered; the rate includes the time until the last event is delivered. */
async function send(
  { stage }: ScenarioContext,
  { gateway, pipeline, token, sink }: WholePath,
  kind: Kind,
  times: WarmUp & { readonly measureMs: number },
): Promise<Measured> {
  const before = (await sink.group(group)).events;
  let startedMs = performance.now();
  let watching = watchGc([]);
  const order = {
    url: `${gateway.url}/api/v1/track`,
    bodies: [kind === 'new' ? newVisitorBody(token) : trackBody(token)],
    connections,
    visitors: knownVisitors,
    ...times,
  };
  const load = await runLoad(stage, order, undefined, () => {
    startedMs = performance.now();
    watching = watchGc([gateway, pipeline]);
  });
  assertAllAccepted(names[kind], load);
  const { acceptedInAll: events } = load;
  await waitUntil(
    'the events to arrive',
    arriveDeadlineMs,
    async () => {
      const arrived = (await sink.group(group)).events - before;
      return arrived >= events ? undefined : `${arrived} of ${events}`;
    },
    pollMs,
  );
  const perS = (events * 1000) / (performance.now() - startedMs);
  return { perS, takenPerS: load.answersPerS, p50: load.latencyMs.p50, gc: await watching.end(events) };
}
