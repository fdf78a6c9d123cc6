import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Dispatcher } from 'undici';
import { addDestination } from './attack.ts';
import type { Attack, Strike } from './attack.ts';
import { createSend, runId, strikeAtOnce, strikeAtRate } from './strike-loops.ts';
import type { Send } from './strike-loops.ts';

const editsAtOnce = 100;
const heldMs = 4_000;
const publishesAtOnce = 4;
const domains = 400;
const largeSources = 20;
const replaysAtOnce = 8;
const eventsToReplay = 1_000;
const guessesPerS = 500;

/** Edits of one account that all wait for the account's lock, which a slow session holds. */
export const lockedEdits: Attack = {
  name: 'locked-edits',
  summary: `${editsAtOnce} requests at a time, edits and reads, for an account whose lock is held for seconds`,
  expects: { answers: ['200'] },
  prepare: () => Promise.resolve({}),
  async run(strike) {
    const { target, signal } = strike;
    const holder = new pg.Client({ connectionString: target.databaseUrl });
    await holder.connect();
    const call = asKey(strike, editsAtOnce);
    const holding = (async () => {
      while (!signal.aborted) {
        await holder.query('begin');
        await holder.query('select 1 from accounts where id = $1 for update', [target.accountId]);
        await pause(heldMs, undefined, { signal }).catch(() => undefined);
        await holder.query('rollback');
        await pause(10);
      }
    })();
    await strikeAtOnce(signal, editsAtOnce, (lane) =>
      lane % 2 === 0 ? call('POST', 'sources', { type: 'NodejsApi' }) : call('GET', 'sources'),
    );
    await holding;
    await holder.end();
  },
};

/** Publishes of a large configuration, one after the other, while its keys rotate. */
export const publishStorm: Attack = {
  name: 'publish-storm',
  summary: `${publishesAtOnce} requests at a time: publishes of a configuration of half a megabyte, and rotations of a source key`,
  expects: { answers: ['200'] },
  async prepare({ control }) {
    const ids: string[] = [];
    for (let index = 0; index < largeSources; index += 1) {
      const whitelistDomains = Array.from({ length: domains }, (_, each) => `${'x'.repeat(50)}${each}.example.com`);
      const { id } = await control.call('POST', 'sources', { type: 'NodejsApi', name: `Large ${index}` });
      await control.call('PATCH', `sources/${String(id)}`, { whitelistDomains });
      ids.push(String(id));
    }
    return { source: ids[0] ?? '' };
  },
  async run(strike) {
    const { facts, signal } = strike;
    const call = asKey(strike, publishesAtOnce);
    const source = `sources/${facts['source'] ?? ''}`;
    let edits = 0;
    await strikeAtOnce(signal, publishesAtOnce, async (lane) => {
      if (lane === 0) return call('POST', `${source}/tokens/rotate`);
      edits += 1;
      await call('PATCH', source, { name: `Large ${edits}` });
      return call('POST', 'versions', { publish: true, force: true });
    });
  },
};

/** Replays that are cancelled as soon as they have started. */
export const replays: Attack = {
  name: 'replays',
  summary: `${replaysAtOnce} replays of the log at a time, started and cancelled`,
  expects: { answers: ['200'] },
  async prepare(ground) {
    return { destination: await addDestination(ground, ground.sinkUrl('attacked/1')) };
  },
  async run(strike) {
    const { target, facts, signal } = strike;
    const send = createSend(strike, 4);
    const events = Array.from({ length: eventsToReplay }, (_, row) => ({
      event: 'Replayed',
      distinctId: `${runId}-${row}`,
      userId: `visitor-${row % 100}`,
    }));
    await send({ url: `${target.gatewayUrl}/api/v1/batch`, body: JSON.stringify({ token: target.token, events }) });
    const call = asKey(strike, replaysAtOnce);
    const path = `destinations/${facts['destination'] ?? ''}`;
    await strikeAtOnce(signal, replaysAtOnce, async (lane) => {
      const from = new Date(Date.now() - 60_000 - lane * 1_000).toISOString();
      const { text } = await call('POST', `${path}/replay`, { what: 'log', from, to: new Date().toISOString() });
      const id = /"id":"([^"]+)"/.exec(text)?.[1];
      if (id !== undefined) await call('POST', `${path}/replays/${id}/cancel`);
    });
  },
};

/** Requests with unknown keys, each of which has to be looked up. */
export const keyGuesses: Attack = {
  name: 'key-guesses',
  summary: `${guessesPerS} requests per second with invented API keys`,
  expects: { answers: ['401', '429'], perS: guessesPerS },
  prepare: () => Promise.resolve({}),
  async run(strike) {
    const send = createSend(strike, 100);
    const headers = { authorization: `Bearer slk_AAAAAAAAAAAA_${'B'.repeat(43)}` };
    await strikeAtRate(strike.signal, { perS: guessesPerS, atOnceMax: 200 }, () =>
      send({ method: 'GET', url: `${strike.target.controlUrl}/rest/v1/sources`, headers }),
    );
  },
};

type Call = (method: Dispatcher.HttpMethod, path: string, body?: object) => ReturnType<Send>;

function asKey(strike: Strike, connections: number): Call {
  const send = createSend(strike, connections);
  const { controlUrl, apiKey } = strike.target;
  return (method, path, body) =>
    send({
      method,
      url: `${controlUrl}/rest/v1/${path}`,
      headers: { authorization: `Bearer ${apiKey}` },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
}
