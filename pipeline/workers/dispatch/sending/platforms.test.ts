import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import { destinationKinds } from '../../../../shared/destinations/registry.ts';
import type { OutboundEvent, OutboundRequest } from '../../../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../../../shared/destinations/sdk/settings.ts';
import type {
  Judgement,
  JudgeOptions,
  Platform,
  PlatformCredentials,
} from '../../../../shared/destinations/sdk/platform.ts';
import { byHttp, prepareToSendTo } from '../../../../shared/destinations/testing/send-to.ts';
import { sampleVisit, sampleVisitEvents } from '../../../../shared/destinations/testing/sample-visit.ts';
import { createEgressRules } from '../../../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../../../shared/egress/guarded-lookup.ts';
import { answerBodyBytesMax } from '../../../../shared/egress/outbound.ts';
import { authorized } from '../../../../shared/egress/oauth/authorized.ts';
import { withOAuth } from '../../../../shared/egress/oauth/oauth-sender.ts';
import { requestToken } from '../../../../shared/egress/oauth/request-token.ts';
import type { TokenSource } from '../../../../shared/egress/oauth/token-source.ts';
import { createSender } from '../../../../shared/egress/sender.ts';
import type { Sender } from '../../../../shared/egress/sender.ts';
import { isJsonObject } from '../../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../../shared/runtime/json.ts';
import { startScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import type { DestinationRequest, ScriptedDestination } from '../../../../shared/testing/scripted-destination.ts';
import { deliver } from './deliver.ts';
import type { Delivered } from './deliver.ts';

// Tests every kind of destination against its scripted platform. The real sender sends the kind's requests to a server
// that judges and answers them as the platform documents; the dispatcher would act on the resulting outcomes.

type NamedCredentials = Exclude<PlatformCredentials, { in: 'nowhere' }>;

const waitMs = 7_000;
const largestFirst = [2_000, 1_000, 500, 250, 100, 75, 50];
const eventsMax = 4;

let server: ScriptedDestination;
let sender: Sender;

beforeAll(async () => {
  server = await startScriptedDestination();
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = { connectionsMax: 2, connectTimeoutMs: 30_000, headersTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
  sender = byHttp(withOAuth(createSender({ rules, lookupFor: createGuardedLookup(rules), limits }), tokens, 'account'));
});
afterAll(async () => {
  await sender.close();
  await server.close();
});

/** Requests each token from the platform. Tests of `shared/egress/oauth` cover how tokens are cached and shared. */
const tokens: TokenSource = {
  async get(_accountId, grant, plain) {
    const answer = await requestToken(grant, undefined, plain, Date.now());
    return answer.kind === 'token' ? answer : { ...answer, kind: 'none', isRefused: answer.kind === 'refused' };
  },
};
const tokenAnswer = { access_token: 'given-token', token_type: 'Bearer', expires_in: 3_600 };

describe.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
  let platform: Platform;
  let prepared: OfferedDestination;
  let events: readonly OutboundEvent[];
  let judged: Judgement[];

  beforeAll(async () => {
    platform = await kind.loadPlatform();
    prepared = prepareToSendTo(kind, server.url);
    const nowMs = Date.now();
    const count = Math.min(eventsMax, prepared.batchEventsMax);
    events = Array.from({ length: count }, (_, nth) => sampleVisit(nowMs, nth + 1));
  });

  /** The kind with the largest batches that its settings permit. */
  const prepareLargest = (): OfferedDestination => {
    for (const batchSize of largestFirst) {
      try {
        return prepareToSendTo({ ...kind, exampleSettings: { ...kind.exampleSettings, batchSize } }, server.url);
      } catch (error) {
        if (!(error instanceof SettingError)) throw error;
      }
    }
    return raise('the kind permits none of these batch sizes');
  };

  /** Sends events to the platform, which judges and answers each request according to the options. */
  const run = (
    options: JudgeOptions,
    sent: readonly OutboundEvent[] = events,
    destination = prepared,
  ): Promise<Delivered> => {
    judged = [];
    server.answer((request) => {
      if (request.path === '/oauth/token') return { status: 200, body: JSON.stringify(tokenAnswer) };
      const judgement = platform.judge(outboundOf(request), options);
      judged.push(judgement);
      return judgement.answer;
    });
    return deliver(destination, sender, sent);
  };
  const outcomesOf = ({ attempts }: Delivered) => attempts.map((attempt) => attempt?.outcome.kind);
  const all = (outcome: string): string[] => events.map(() => outcome);

  it('success: the platform takes every event of a batch', async () => {
    const delivered = await run({});
    expect(judged.flatMap(({ problems }) => problems)).toEqual([]);
    expect(delivered).toMatchObject({ isUp: true, isOverloaded: false });
    expect(outcomesOf(delivered)).toEqual(all('delivered'));
    // If a kind sends several requests in turn, each of them contains all events.
    expect(judged.flatMap(({ taken }) => taken)).toHaveLength(
      events.length * countInTurn(prepared.buildRequest(events, Date.now())),
    );
  });

  it.each(sampleVisitEvents)('%s: is skipped, or accepted', async (name) => {
    const event = sampleVisit(Date.now(), 1, name);
    if (prepared.accepts?.(event) === false) return;
    const delivered = await run({}, [event]);
    expect(judged.flatMap(({ problems }) => problems)).toEqual([]);
    expect(outcomesOf(delivered)).toEqual(['delivered']);
  });

  const requestOfOne = (): OutboundRequest =>
    authorized(prepared.buildRequest(events.slice(0, 1), Date.now()), 'token');

  it('credentials: a request without them is not accepted', () => {
    const request = requestOfOne();
    const { credentials } = platform.endpointOf(request) ?? raise('the platform has no such address');
    if (credentials.in === 'nowhere') return;
    const { problems, taken } = platform.judge(withoutCredentials(request, credentials));
    expect({ problems, taken }).toMatchObject({ taken: [], problems: [{ field: credentials.name }] });
  });

  it('required: a row without a field that must be there is refused, and the field is named', () => {
    const request = requestOfOne();
    const { rows = [], content } = platform.endpointOf(request) ?? raise('the platform has no such address');
    if (content !== 'json') return;
    const body: unknown = JSON.parse(request.body ?? '');
    for (const { at, schema } of rows) {
      const [row] = (at === '' ? body : memberAt(body, at)) as JsonObject[] | [undefined];
      const required = 'required' in schema && Array.isArray(schema.required) ? (schema.required as string[]) : [];
      for (const name of row === undefined ? [] : required) {
        const { [name]: _, ...rest } = row ?? {};
        const mutilated = request.body?.replace(JSON.stringify(row), () => JSON.stringify(rest));
        const { problems, taken } = platform.judge({ ...request, body: mutilated });
        expect({ taken, problems }).toMatchObject({ taken: [], problems: [{ field: expect.stringContaining(name) }] });
      }
    }
  });

  it('refusal: every event is rejected and none is retried, and the destination counts as up', async () => {
    const delivered = await run({ scenario: 'refusal' });
    expect(outcomesOf(delivered)).toEqual(all('reject'));
    expect(delivered.isUp).toBe(true);
    expect(delivered.requests).toBeLessThanOrEqual(2 * events.length - 1);
  });

  it('refused row: that event is refused, and every other one arrives', async () => {
    await run({});
    const culprit = JSON.stringify(judged.flatMap(({ taken }) => taken).at(-1));
    const refuses = (row: unknown): boolean => JSON.stringify(row) === culprit;
    const outcomes = new Map<OutboundEvent, string>();
    // If the platform refuses all events for one bad event, the others are sent again.
    let left = events;
    for (let round = 0; round < 3 && left.length > 0; round += 1) {
      const sent = left;
      outcomesOf(await run({ scenario: 'refused-row', refuses }, sent)).forEach((outcome, index) => {
        const event = sent[index];
        if (event !== undefined) outcomes.set(event, outcome ?? 'retry');
      });
      left = sent.filter((event) => outcomes.get(event) === 'retry');
    }
    expect([...outcomes.values()].toSorted()).toEqual([...all('delivered').slice(1), 'reject']);
  });

  it.each(['Order Completed', '$identify'])(
    'largest batch of %s: the whole answer is read, whether the platform takes all events, all but one, or none',
    async (name) => {
      const largest = prepareLargest();
      const nowMs = Date.now();
      const many = Array.from({ length: largest.batchEventsMax }, (_, nth) => sampleVisit(nowMs, nth + 1, name));
      const isRead = largest.readAnswer !== undefined && many.length > 1;
      if (!isRead || many.some((event) => largest.accepts?.(event) === false)) return;
      const taken = await run({}, many, largest);
      expect(new Set(outcomesOf(taken))).toEqual(new Set(['delivered']));
      const rows = judged.flatMap(({ taken: each }) => each);
      // Of a request without rows, no single event can be refused.
      if (rows.length < many.length) return;
      const last = JSON.stringify(rows.at(-1));
      const others = await run(
        { scenario: 'refused-row', refuses: (row) => JSON.stringify(row) === last },
        many,
        largest,
      );
      expect(outcomesOf(others)).toContain('reject');
      const answers = judged;
      const none = await run({ scenario: 'refused-row', refuses: () => true }, many, largest);
      expect(outcomesOf(none)).not.toContain('delivered');
      for (const { answer } of [...answers, ...judged]) {
        expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(answerBodyBytesMax);
      }
    },
  );

  it('throttled: every event is tried again when the platform says, and the platform gets fewer requests', async () => {
    const delivered = await run({ scenario: 'throttled' });
    expect(outcomesOf(delivered)).toEqual(all('retry'));
    expect(delivered.isOverloaded).toBe(true);
    const [said] = judged;
    if (said?.answer.headers['retry-after'] === undefined) return;
    for (const attempt of delivered.attempts) expect(attempt?.outcome).toMatchObject({ afterMs: waitMs });
  });

  it('expired token: no event counts as delivered, and the request is not split', async () => {
    const delivered = await run({ scenario: 'ended-token' });
    expect(outcomesOf(delivered)).not.toContain('delivered');
    const groups = new Set(events.map((event) => prepared.groupOf?.(event) ?? ''));
    expect(delivered.requests).toBe(groups.size);
  });

  it('malformed: no event counts as delivered', async () => {
    expect(outcomesOf(await run({ scenario: 'malformed' }))).not.toContain('delivered');
  });

  it('too large: a request that is too large is split, and a single event that is too large is refused', async () => {
    const bytes = Buffer.byteLength(prepared.buildRequest(events.slice(0, 1), Date.now()).body ?? '', 'utf8');
    const inParts = await run({ bytesMax: Math.ceil(bytes * 1.6) });
    expect(outcomesOf(inParts)).toEqual(all('delivered'));
    const single = await run({ scenario: 'too-large' }, events.slice(0, 1));
    expect(outcomesOf(single)).toEqual(['reject']);
  });

  it('unavailable: every event is tried again, and the destination is not up', async () => {
    const delivered = await run({ scenario: 'unavailable' });
    expect(outcomesOf(delivered)).toEqual(all('retry'));
    expect(delivered.isUp).toBe(false);
  });
});

/** The received request in the form in which the kind built it. */
function outboundOf({ method, path, headers, body }: DestinationRequest): OutboundRequest {
  const plain = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  return {
    method: method as OutboundRequest['method'],
    url: `${server.url}${path}`,
    headers: Object.fromEntries(plain) as Record<string, string>,
    body: body === '' ? undefined : body,
  };
}

const countInTurn = ({ next }: OutboundRequest): number => 1 + (next === undefined ? 0 : countInTurn(next));

function withoutCredentials(request: OutboundRequest, { in: place, name }: NamedCredentials): OutboundRequest {
  const { url, headers, body = '' } = request;
  if (place === 'header') {
    const { [name]: _, ...others } = headers;
    return { ...request, headers: others };
  }
  const shorter = new URL(url);
  if (place === 'query') shorter.searchParams.delete(name);
  // In a body, the name is replaced wherever it occurs: in JSON, in a form, or in a hand-written query.
  return { ...request, url: shorter.href, body: place === 'body' ? body.replaceAll(name, 'another_name') : body };
}

function memberAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((held, name) => (isJsonObject(held) ? held[name] : undefined), body) ?? [];
}

function raise(problem: string): never {
  throw new Error(problem);
}
