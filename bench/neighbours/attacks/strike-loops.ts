import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Strike, Tally } from './attack.ts';

/** The attacker has its own address, so that limits per address apply to it and not to the quiet account. */
export const attackerAddress = '127.0.0.2';
const answerDeadlineMs = 30_000;

export type StrikeRequest = {
  readonly method?: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

/** Sends a request from the attacker's address and counts the response. Never rejects. */
export type Send = (request: StrikeRequest) => Promise<{ readonly status: number; readonly text: string }>;

export function createSend({ tally, target, signal }: Strike, connections: number): Send {
  const dispatcher = new Agent({ connections, localAddress: attackerAddress, headersTimeout: answerDeadlineMs });
  signal.addEventListener('abort', () => void dispatcher.destroy());
  return async ({ method = 'POST', url, headers, body }) => {
    try {
      const { origin, pathname: path, search } = new URL(url);
      const answer = await dispatcher.request({
        origin,
        path: path + search,
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: body ?? null,
      });
      const text = await answer.body.text();
      const { statusCode: status } = answer;
      count(tally, String(status));
      if (status < 300 && url.startsWith(target.gatewayUrl)) tally.acceptedBytes += Buffer.byteLength(body ?? '');
      return { status, text };
    } catch {
      if (!signal.aborted) count(tally, 'none');
      return { status: 0, text: '' };
    }
  };
}

export function count({ answers }: Pick<Tally, 'answers'>, status: string): void {
  answers[status] = (answers[status] ?? 0) + 1;
}

/** Calls `strike` `perS` times per second until it is stopped, with at most `atOnceMax` calls in flight. */
export async function strikeAtRate(
  signal: AbortSignal,
  { perS, atOnceMax }: { readonly perS: number; readonly atOnceMax: number },
  strike: (index: number) => Promise<unknown>,
): Promise<void> {
  const startedMs = performance.now();
  let [struck, atOnce] = [0, 0];
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedMs) * perS) / 1_000);
    for (; struck < due && atOnce < atOnceMax; struck += 1) {
      atOnce += 1;
      void strike(struck).finally(() => (atOnce -= 1));
    }
    // Calls that could not start in time are skipped, because an attacker has no backlog.
    if (struck < due) struck = due;
    await pause(5);
  }
}

/** Calls `strike` again and again in `atOnce` parallel lanes, until it is stopped. */
export async function strikeAtOnce(
  signal: AbortSignal,
  atOnce: number,
  strike: (lane: number) => Promise<unknown>,
): Promise<void> {
  const lane = async (index: number): Promise<void> => {
    while (!signal.aborted) {
      await strike(index);
      await pause(1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, index) => lane(index)));
}

/** Part of event ids that differs from run to run. */
export const runId = `${process.pid}-${Date.now().toString(36)}`;
