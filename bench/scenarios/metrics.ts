import type { BenchAccount } from '../config/account-document.ts';
import { accountIdOf, destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { createLatencies, percentilesOf, recordMs } from '../load/load-recorder.ts';
import type { Percentiles } from '../load/load-recorder.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { figureOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { scrapeCpuMs, startScrapes } from '../system/scrapes.ts';
import type { Scrape } from '../system/scrapes.ts';
import { startControlPlane } from '../system/services.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { startWholePath } from '../whole-path/whole-path.ts';

const accounts = 100;
const destinationsEach = 10;
const destinations = accounts * destinationsEach;
const connections = 64;
/** Far below the gateway's capacity: the scenario looks for stalls, not for a lack of CPU. */
const ratePerS = 1_000;
/** Prometheus asks every 15 s by default. */
const everyMs = 1_000;
const group = 'in';

type Named = { readonly name: string; readonly service: Service };
type Running = { readonly trackUrl: string; readonly token: string; readonly services: readonly Named[] };
type Round = {
  readonly quiet: LoadResult;
  readonly scraped: LoadResult;
  readonly scrapes: readonly (readonly Scrape[])[];
};

/** Cost of rendering /metrics of many destinations, and its effect on senders of events. */
export const metrics: Scenario = {
  name: 'metrics',
  summary: `${destinations.toLocaleString('en-US')} destinations: ingest with and without every service scraped each second`,
  bars: [
    { id: 'throughput', text: 'tracks with scrapes against without', limit: 0.95, unit: 'ratio', ask: 'at-least' },
    { id: 'p50', text: 'median latency with scrapes against without', limit: 1.1, unit: 'ratio', ask: 'at-most' },
    { id: 'scrape', text: 'scrape of any service under load, p99', limit: 1_000, unit: 'ms', ask: 'at-most' },
  ],
  run(context) {
    return context.stage.scoped(async (stage) => {
      const running = await start(stage, context);
      const cpuMs: number[] = [];
      for (const { name, service } of running.services) {
        context.progress.step(`CPU of a scrape of the ${name}`, 5);
        cpuMs.push(await scrapeCpuMs(service, context.isQuick ? 10 : 30));
      }
      const rounds: Round[] = [];
      for (let round = 1; round <= context.rounds; round += 1) {
        const found = await context.attempt('tracks', () => measureOnce(stage, context, running, round));
        if (found !== undefined) rounds.push(found);
      }
      const serviceRows = running.services.map(({ name }, at) => serviceRow(name, cpuMs[at], scrapesOf(rounds, at)));
      const slowest = serviceRows.map(({ figures }) => figures['scrape p99']?.value ?? Number.NaN);
      const ratio = (read: (load: LoadResult) => number): number =>
        ratioFigure(
          rounds.map(({ scraped }) => read(scraped)),
          rounds.map(({ quiet }) => read(quiet)),
        ).value;
      return {
        settings: { accounts, destinations, ratePerS, connections, everyMs, syncInterval: 'always' },
        rows: [
          loadRow(
            'track, not scraped',
            rounds.map(({ quiet }) => quiet),
          ),
          loadRow(
            'track, all services scraped each second',
            rounds.map(({ scraped }) => scraped),
          ),
          ...serviceRows,
        ],
        measured: {
          throughput: ratio(({ answersPerS }) => answersPerS),
          p50: ratio(({ latencyMs }) => latencyMs.p50),
          scrape: Math.max(...slowest),
        },
        advice: [`p99 with scrapes is ${ratio(({ latencyMs }) => latencyMs.p99).toFixed(2)} of without`],
      };
    });
  },
};

/** The load goes to the first account; the others are there to be shown. */
async function start(stage: Stage, { progress }: ScenarioContext): Promise<Running> {
  progress.step(`starting with ${destinations} destinations`, 15);
  const destinationsOf = (account: number, urlOf: (path: string) => string): BenchAccount['destinations'] =>
    Array.from({ length: destinationsEach }, (_, index) => {
      const id = account * destinationsEach + index;
      return { id: destinationIdOf(id), url: urlOf(`${group}/${id}`), batchSize: 100 };
    });
  const path = await startWholePath(stage, {
    destinations: (sink) => destinationsOf(0, sink.urlOf) ?? [],
    otherAccounts: (sink) =>
      Array.from({ length: accounts - 1 }, (_, index) => ({
        accountId: accountIdOf(index + 1),
        destinations: destinationsOf(index + 1, sink.urlOf) ?? [],
      })),
  });
  const controlPlane = await startControlPlane(stage, path.natsUrl, path.databaseUrl);
  return {
    trackUrl: `${path.gateway.url}/api/v1/track`,
    token: path.token,
    services: [
      { name: 'gateway', service: path.gateway },
      { name: 'pipeline', service: path.pipeline },
      { name: 'control plane', service: controlPlane },
    ],
  };
}

async function measureOnce(stage: Stage, context: ScenarioContext, running: Running, round: number): Promise<Round> {
  const { seconds, warmUpSeconds, progress } = context;
  const load = async (label: string): Promise<LoadResult> => {
    progress.step(`${label}, round ${round}`, seconds + warmUpSeconds);
    const times = timesOf(context);
    const order = { url: running.trackUrl, bodies: [trackBody(running.token)], connections, ratePerS, ...times };
    const result = await runLoad(stage, order, ({ p50, p99 }) =>
      progress.note(`p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`),
    );
    assertAllAccepted(label, result);
    return result;
  };
  const loadScraped = async (): Promise<Pick<Round, 'scraped' | 'scrapes'>> => {
    const scraping = startScrapes(
      running.services.map(({ service }) => service),
      everyMs,
    );
    try {
      return { scraped: await load('scraped'), scrapes: await scraping.stop() };
    } finally {
      await scraping.stop();
    }
  };
  // The order changes from round to round, so that neither always has the warmer machine.
  if (round % 2 === 1) return { quiet: await load('not scraped'), ...(await loadScraped()) };
  return { ...(await loadScraped()), quiet: await load('not scraped') };
}

function scrapesOf(rounds: readonly Round[], at: number): readonly (readonly Scrape[])[] {
  return rounds.map(({ scrapes }) => scrapes[at] ?? []);
}

function loadRow(name: string, loads: readonly LoadResult[]): ResultRow {
  return { name, figures: loadFigures(loads), series: loadSeries(loads) };
}

function serviceRow(name: string, cpuMs: number | undefined, rounds: readonly (readonly Scrape[])[]): ResultRow {
  const took = (percentile: keyof Percentiles): Figure =>
    figureOf(
      'ms',
      'less',
      rounds.map((scrapes) => {
        const readings = scrapes.map(({ tookMs }) => tookMs);
        return { value: percentileOf(readings, percentile), readings };
      }),
    );
  const last = rounds.map((scrapes) => scrapes.at(-1));
  return {
    name: `scrape of the ${name}`,
    figures: {
      'scrape p50': took('p50'),
      'scrape p99': took('p99'),
      'CPU a scrape': plainFigure('ms', 'less', [cpuMs ?? Number.NaN]),
      size: plainFigure(
        'bytes',
        'less',
        last.map((scrape) => scrape?.bytes ?? Number.NaN),
      ),
      series: plainFigure(
        'count',
        'less',
        last.map((scrape) => scrape?.series ?? Number.NaN),
      ),
    },
  };
}

function percentileOf(times: readonly number[], percentile: keyof Percentiles): number {
  const histogram = createLatencies();
  for (const time of times) recordMs(histogram, time);
  return percentilesOf(histogram)[percentile];
}
