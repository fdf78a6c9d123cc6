import fc from 'fast-check';
import { Agent } from 'undici';
import type { GatewayUnderTest } from '../gateway-here.ts';
import { sendRaw } from '../raw-request.ts';
import { hostileConnection } from './hostile-connections.ts';
import { hostilePost } from './hostile-bodies.ts';
import type { HostilePost } from './hostile-bodies.ts';

export type FuzzOptions = {
  readonly gateway: GatewayUnderTest;
  readonly token: string;
  readonly cases: number;
  readonly seed: number;
  /** Called after every thousandth case. */
  onProgress?(done: number): Promise<void>;
};

/** Number of answers by status; `none` counts connections that ended without an answer. */
export type FuzzAnswers = ReadonlyMap<number | 'none', number>;

const clients = 32;
const casesAtOnce = 1_000;
/** One case in this many is a connection that sends invalid HTTP. */
const rawEvery = 25;

/** Sends generated cases over kept connections; the seed decides the cases. */
export async function runFuzz({ gateway, token, cases, seed, onProgress }: FuzzOptions): Promise<FuzzAnswers> {
  const answers = new Map<number | 'none', number>();
  const count = (status: number | 'none'): void => void answers.set(status, (answers.get(status) ?? 0) + 1);
  const agent = new Agent({ connections: clients });
  const post = async ({ route, body }: HostilePost): Promise<void> => {
    const path = `/api/v1/${route}`;
    const { statusCode, body: text } = await agent.request({ origin: gateway.url, path, method: 'POST', body });
    await text.dump();
    count(statusCode);
  };
  const connection = async (n: number): Promise<void> => {
    const { statuses } = await sendRaw(gateway.port, hostileConnection(token, n), { quietMs: 20 });
    for (const status of statuses.length === 0 ? (['none'] as const) : statuses) count(status);
  };
  for (let from = 0; from < cases; from += casesAtOnce) {
    const posts = fc.sample(hostilePost(token), { seed: seed + from, numRuns: Math.min(casesAtOnce, cases - from) });
    let next = 0;
    const client = async (): Promise<void> => {
      for (let at = next++; at < posts.length; at = next++) {
        const given = posts[at];
        if (at % rawEvery === 0) await connection(from + at);
        else if (given !== undefined) await post(given);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await onProgress?.(from + posts.length);
  }
  await agent.close();
  return answers;
}
