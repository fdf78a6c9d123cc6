import { connect } from 'node:http2';
import { createEgressRules } from '../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../shared/egress/sender.ts';
import { idempotencyKey } from '../../shared/destinations/sdk/event-ids.ts';
import { benchAccountId, visitorIdOf } from '../config/ids.ts';
import { resolvedEvent } from '../fill/fill-events.ts';

/** What a client did while it was measured. */
export type TlsClientTold = {
  readonly requests: number;
  readonly seconds: number;
  /** CPU of this process, all of its threads together. */
  readonly cpuMs: number;
};

/** Sends the same request again and again, so many at a time, and tells what that took. */
const [, , version = '', origin = '', atATime = '64', warmUpMs = '1000', measureMs = '5000'] = process.argv;
const path = '/in/1';
const { event, visitor } = resolvedEvent(benchAccountId, 1, visitorIdOf(1), Date.now());
const body = JSON.stringify({ event, visitor });
const headers = {
  'content-type': 'application/json',
  'user-agent': 'Sluice/1 (+HTTPDestination)',
  'idempotency-key': idempotencyKey([event.id]),
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

/** Sends one request, and resolves once its answer is here. */
type Send = () => Promise<unknown>;

/** As deliveries go out: over as many connections as there are requests under way. */
function overHttp1(): Send {
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = {
    connectionsMax: Number(atATime),
    connectTimeoutMs: 5_000,
    headersTimeoutMs: 5_000,
    totalTimeoutMs: 10_000,
  };
  const sender = createSender({ rules, lookupFor: createGuardedLookup(rules), limits });
  return async () => {
    const result = await sender.send({ method: 'POST', url: `${origin}${path}`, headers, body });
    if (result.kind === 'failed') throw new Error(`sending over HTTP/1.1: ${result.reason}`);
  };
}

/** As streams of one connection. https://nodejs.org/api/http2.html#clienthttp2sessionrequestheaders-options */
async function overHttp2(): Promise<Send> {
  const session = connect(origin);
  await new Promise((resolve, reject) => session.once('connect', resolve).once('error', reject));
  return () =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
      let answer = '';
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        answer += chunk;
      });
      stream.on('end', () => resolve(answer));
      stream.on('error', reject);
      stream.end(body);
    });
}

const send = version === 'http2' ? await overHttp2() : overHttp1();
let done = 0;
const sendOn = async (): Promise<never> => {
  for (;;) {
    await send();
    done += 1;
  }
};
const failed = (error: unknown): void => {
  throw error;
};
for (let i = 0; i < Number(atATime); i += 1) sendOn().catch(failed);

setTimeout(() => {
  const [before, used, startedMs] = [done, process.cpuUsage(), performance.now()];
  setTimeout(() => {
    const { user, system } = process.cpuUsage(used);
    const told: TlsClientTold = {
      requests: done - before,
      seconds: (performance.now() - startedMs) / 1_000,
      cpuMs: (user + system) / 1_000,
    };
    process.send?.(told);
  }, Number(measureMs));
}, Number(warmUpMs));
