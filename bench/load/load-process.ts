import type { Stage } from '../system/stage.ts';
import type { LoadWindow } from './load-recorder.ts';
import type { LoadResult } from './load-result.ts';
import type { WarmUp } from './steady.ts';

export type LoadOrder = WarmUp & {
  readonly url: string;
  /** Bodies with slots, assigned to the connections in turn. */
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly measureMs: number;
  /**
   * Requests per second, independent of responses. Without a rate, each connection sends again as soon as it is
   * answered.
   */
  readonly ratePerS?: number;
  /**
   * Only with a rate: drops a request that has waited this long for a connection, in ms. By default every request is
   * sent, however late.
   */
  readonly givesUpAfterMs?: number;
  readonly visitors?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sequenceFrom: number;
  /**
   * Before the measurement, sends the requests for `ms` to another server, such as the sink, as fast as that server
   * answers. The load generator is then warm when it measures a newly started service.
   */
  readonly rehearsal?: { readonly url: string; readonly ms: number };
};

export type LoadMessage =
  | { readonly kind: 'measuring' }
  | { readonly kind: 'window'; readonly window: LoadWindow }
  | { readonly kind: 'result'; readonly result: LoadResult };

/** Number of sequence numbers reserved for each generator. */
const sequencesPerLoad = 1_000_000_000;
let loads = 0;

/**
 * Generates load in a separate process, so that it never shares an event loop with the measured service. `ending` ends
 * the load early.
 */
export async function runLoad(
  stage: Stage,
  order: Omit<LoadOrder, 'sequenceFrom'>,
  onWindow?: (window: LoadWindow) => void,
  onMeasuring?: () => void,
  ending?: AbortSignal,
): Promise<LoadResult> {
  loads += 1;
  const child = await stage.startChild({ name: 'load', entry: 'bench/load/load-main' });
  try {
    const result = new Promise<LoadResult>((resolve) => {
      child.onMessage((message) => {
        const told = message as LoadMessage;
        switch (told.kind) {
          case 'measuring':
            return onMeasuring?.();
          case 'window':
            return onWindow?.(told.window);
          case 'result':
            return resolve(told.result);
        }
      });
    });
    child.send({ ...order, sequenceFrom: loads * sequencesPerLoad } satisfies LoadOrder);
    ending?.addEventListener('abort', () => child.send('end'));
    return await Promise.race([result, child.failed, tooLate(lengthOf(order))]);
  } finally {
    await child.stop();
  }
}

type Timed = Pick<LoadOrder, 'rehearsal' | 'warmUpMs' | 'warmUpMaxMs' | 'measureMs'>;

const lengthOf = ({ rehearsal, warmUpMs, warmUpMaxMs = warmUpMs, measureMs }: Timed): number =>
  (rehearsal?.ms ?? 0) + warmUpMaxMs + measureMs;

const graceMs = 60_000;

function tooLate(expectedMs: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('running load: the generator did not end')), expectedMs + graceMs);
    timer.unref();
  });
}
