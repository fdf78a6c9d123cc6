import { createHistogram } from 'node:perf_hooks';
import type { RecordableHistogram } from 'node:perf_hooks';
import { HttpConnection } from './http-connection.ts';

export type ClosedLoopOptions = {
  readonly url: URL;
  /** Ready requests, sent in turn. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  onProgress?(answersPerS: number): void;
};

export type LoadResult = {
  readonly answersPerS: number;
  readonly answers: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly failures: number;
  readonly latencyMs: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
  readonly seconds: number;
};

/** Every connection sends its next request as soon as its last was answered: finds the most a server can do. */
export async function closedLoop(options: ClosedLoopOptions): Promise<LoadResult> {
  const histogram = createHistogram();
  const byStatus = new Map<number, number>();
  let measuring = false;
  let stopped = false;
  let answers = 0;
  let failures = 0;
  let next = 0;
  const sendNext = (connection: HttpConnection): void => {
    const request = options.requests[next % options.requests.length];
    next += 1;
    if (request === undefined) return;
    connection.send(request);
  };
  const onAnswer = (status: number, connection: HttpConnection): void => {
    if (measuring) {
      answers += 1;
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      record(histogram, performance.now() - connection.sentAtMs);
    }
    if (!stopped) sendNext(connection);
  };
  const onFailure = (_error: Error, connection: HttpConnection): void => {
    if (stopped) return;
    failures += 1;
    connection.close();
    connections = connections.filter((other) => other !== connection);
    open();
  };
  let connections: HttpConnection[] = [];
  const open = (): void => {
    const connection = new HttpConnection(options.url, onAnswer, onFailure);
    connections.push(connection);
    sendNext(connection);
  };
  for (let i = 0; i < options.connections; i += 1) open();
  await sleep(options.warmUpMs);
  measuring = true;
  const startedMs = performance.now();
  await measure(options, startedMs, () => answers);
  measuring = false;
  const seconds = (performance.now() - startedMs) / 1000;
  stopped = true;
  for (const connection of connections) connection.close();
  return {
    answersPerS: answers / seconds,
    answers,
    byStatus: Object.fromEntries(byStatus),
    failures,
    latencyMs: {
      p50: histogram.percentile(50) / 1e6,
      p90: histogram.percentile(90) / 1e6,
      p99: histogram.percentile(99) / 1e6,
      max: histogram.max / 1e6,
    },
    seconds,
  };
}

async function measure(options: ClosedLoopOptions, startedMs: number, answers: () => number): Promise<void> {
  for (let last = 0; ;) {
    const left = options.measureMs - (performance.now() - startedMs);
    if (left <= 0) return;
    const beganMs = performance.now();
    await sleep(Math.min(left, 500));
    options.onProgress?.(((answers() - last) * 1000) / (performance.now() - beganMs));
    last = answers();
  }
}

function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.max(1, Math.round(ms * 1e6)));
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
