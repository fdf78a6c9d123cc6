import { Agent } from 'undici';
import { client } from '../../../shared/nats/connection/client.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { GatewayUnderTest } from '../gateway-here.ts';
import type { TestLog } from '../test-log.ts';
import { doorFamilies } from './families.ts';
import type { DoorCase } from './door-case.ts';
import { createRandom } from './random.ts';

/** A case whose answer or stored events contradict the documentation of its family. */
export type DoorFailure = {
  readonly case: number;
  readonly family: string;
  readonly problem: string;
  readonly request: string;
};

export type DoorRun = { readonly failures: readonly DoorFailure[]; readonly answers: ReadonlyMap<string, number> };

export type DoorOptions = {
  readonly gateway: GatewayUnderTest;
  readonly log: TestLog;
  /** Numbers of the cases to run; each number determines one case. */
  readonly cases: readonly number[];
  /** Called with the number of finished cases, after every slice of cases. */
  onProgress?(done: number): Promise<void>;
};

type Answered =
  | {
      readonly status: number;
      readonly text: string;
      /** Whether an earlier attempt was answered 503; the log may have stored that attempt nevertheless. */
      readonly isRepeat: boolean;
    }
  | { readonly failure: string };

const clients = 32;
const casesAtOnce = 500;
const answerWithinMs = 20_000;
const failuresMax = 25;
/** A client retries a 503. */
const attemptsMax = 20;
const retryAfterMs = 250;
const shownBytes = 1_500;

export const doorCase = (number: number): DoorCase => {
  const random = createRandom(number);
  return random.pick(doorFamilies)(random);
};

/** Sends the cases, reads their stored events, and compares answers and events with the documentation. */
export async function runDoors({ gateway, log, cases, onProgress }: DoorOptions): Promise<DoorRun> {
  const agent = new Agent({ connections: clients, headersTimeout: answerWithinMs, bodyTimeout: answerWithinMs });
  const failures: DoorFailure[] = [];
  const answers = new Map<string, number>();
  const stored = await openStored(log);
  const send = async (number: number, { method, path, headers, body }: DoorCase): Promise<Answered> => {
    const request = { origin: gateway.url, path, method, headers: { ...headers, 'user-agent': `case-${number}` } };
    try {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await agent.request({ ...request, ...(method === 'POST' ? { body: Buffer.from(body) } : {}) });
        const text = await answer.body.text();
        if (answer.statusCode !== 503 || attempt === attemptsMax) {
          return { status: answer.statusCode, text, isRepeat: attempt > 1 };
        }
        await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
      }
    } catch (error) {
      return { failure: String(error) };
    }
  };
  for (let from = 0; from < cases.length && failures.length < failuresMax; from += casesAtOnce) {
    const slice = cases.slice(from, from + casesAtOnce).map((number) => ({ number, of: doorCase(number) }));
    const answered = new Map<number, Answered>();
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let one = slice[next++]; one !== undefined; one = slice[next++]) {
        answered.set(one.number, await send(one.number, one.of));
      }
    };
    await Promise.all(Array.from({ length: clients }, worker));
    const lines = await stored.since();
    for (const { number, of } of slice) {
      const answer = answered.get(number) ?? { failure: 'not sent' };
      const key = `${of.family.split(' ', 1)[0]} ${'status' in answer ? answer.status : 'none'}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
      const problem = problemOf(of, answer, lines.get(`case-${number}`) ?? []);
      if (problem === undefined) continue;
      const request = `${of.method} ${of.path}\n${Buffer.from(of.body).toString('utf8').slice(0, shownBytes)}`;
      failures.push({ case: number, family: of.family, problem, request });
    }
    await onProgress?.(from + slice.length);
  }
  await agent.close();
  return { failures: failures.slice(0, failuresMax), answers };
}

function problemOf(of: DoorCase, answer: Answered, lines: readonly string[]): string | undefined {
  if ('failure' in answer) return answer.failure;
  const { status, text, isRepeat } = answer;
  const count = lines.length;
  const said = `${status} ${text.slice(0, 200)}, ${count} stored`;
  const must = of.verdicts.filter((verdict) => verdict === 'stored').length;
  const may = of.verdicts.filter((verdict) => verdict !== 'refused').length;
  const isWebhook = of.family.startsWith('webhook');
  if (count < must || (!isWebhook && !isRepeat && count > may))
    return `${said}; ${must} to ${may} of ${of.verdicts.length} are events`;
  if (status >= 400 && count > 0) return `${said}: refused, and yet stored`;
  if (isRepeat) return status < 500 ? undefined : said;
  const expected = of.statuses(count, of.verdicts.length);
  if (!expected.includes(status)) return `${said}; expected ${expected.join(' or ')}`;
  const accepted = /"accepted":(\d+)/.exec(text)?.[1];
  if (accepted !== undefined && Number(accepted) !== count) return `${said}: acknowledged what is not stored`;
  const missing = of.contains.find((wanted) => !lines.some((line) => line.includes(wanted)));
  return missing === undefined ? undefined : `${said}; ${missing} is not in what is stored`;
}

/** Stored events as text, by the User-Agent of their request. */
async function openStored(log: TestLog) {
  const { jsm } = log.connection[client];
  let seq = (await jsm.streams.info(streams.ingest)).state.last_seq;
  return {
    async since(): Promise<ReadonlyMap<string, readonly string[]>> {
      const { last_seq: last } = (await jsm.streams.info(streams.ingest)).state;
      const found = new Map<string, string[]>();
      for (; seq < last; seq += 1) {
        const { data } = await jsm.streams.getMessage(streams.ingest, { seq: seq + 1 });
        for (const line of Buffer.from(data).toString('utf8').split('\n')) {
          const agent = /"ua":"(case-\d+)"/.exec(line)?.[1];
          if (agent !== undefined) found.set(agent, [...(found.get(agent) ?? []), line]);
        }
      }
      return found;
    },
  };
}
