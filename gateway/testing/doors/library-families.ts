import { gzipSync } from 'node:zlib';
import { nullBareNumbers } from '../../payload/lenient-value.ts';
import { capturedPostHogRequests, capturedRequests } from '../../routes/compat/testing/captured-request.ts';
import { basic, json, mutated, perhapsCut, token } from './door-case.ts';
import type { DoorCase, DoorFamily } from './door-case.ts';
import { Members, Raw, factsOf, isList, toTree, writeTree } from './json-tree.ts';
import type { Tree } from './json-tree.ts';
import type { Random } from './random.ts';
import { posthogVerdict, specCalls, specVerdict } from './verdicts.ts';

/** Messages of these families may contain Python's NaN. */
const bare = true;

const readCaptured = (text: string): Tree => toTree(JSON.parse(nullBareNumbers(text)));
const specBatches = capturedRequests(token).map(({ text }) => readCaptured(text));
const specMessages = specBatches.flatMap((tree) => {
  const batch = tree instanceof Members ? tree.get('batch') : undefined;
  return isList(batch) ? batch : [];
});
const posthogMessages = capturedPostHogRequests(token)
  .map(({ text }) => readCaptured(text))
  .flatMap((tree): readonly Tree[] => {
    const batch = tree instanceof Members ? tree.get('batch') : tree;
    if (isList(batch)) return batch;
    return tree instanceof Members && tree.get('event') !== undefined ? [tree] : [];
  });

/** Statuses of the Segment, RudderStack and PostHog routes: one valid message is enough for a 200. */
const ofLibraries = (stored: number, messages: number): readonly number[] =>
  stored > 0 || messages === 0 ? [200] : [400];

/** A valid message with numbers that a double cannot represent. */
function goodSpec(random: Random): { readonly message: Tree; readonly contains: readonly string[] } {
  const [id, big] = [random.digits(18), random.digits(25)];
  const properties = new Members([['big', new Raw(big)]]);
  const message = new Members([
    ['type', 'track'],
    ['event', 'Good'],
    ['messageId', `good-${big}`],
    ['userId', new Raw(id)],
    ['properties', properties],
  ]);
  return { message, contains: [`"big":${big}`, `"externalId":"${id}"`] };
}

/** `/v1/batch`, under each of its addresses. */
export const specBatchFamily: DoorFamily = (random) => {
  const good = goodSpec(random);
  const changed = Array.from({ length: 1 + random.below(4) }, () => mutated(random, random.pick(specMessages), bare));
  const at = random.below(changed.length + 1);
  const messages = [...changed.slice(0, at), good.message, ...changed.slice(at)];
  const outer = mutated(
    random,
    new Members([
      ['sentAt', '2026-11-26T00:00:00Z'],
      ['context', new Members([])],
      ['integrations', new Members([])],
    ]),
    bare,
  );
  // If the JSON around the messages cannot be read, no message can.
  const isReadable = factsOf(outer).depth < 30 && !writeTree(outer).includes(0xfc);
  const members = outer instanceof Members && isReadable ? outer.list.filter(([name]) => name !== 'batch') : [];
  const bytes = writeTree(new Members([...members, ['batch', messages]]));
  const isZipped = random.chance(0.2);
  const found: DoorCase = {
    family: 'spec batch',
    method: 'POST',
    path: random.pick(['/v1/batch', '/v1/import/', '/v1/b', '//v1/batch', '/v1/batch?writeKey=other']),
    headers: { ...json, ...basic, ...(isZipped ? { 'content-encoding': 'gzip' } : {}) },
    body: bytes,
    verdicts: messages.map((message) => specVerdict(message)),
    statuses: ofLibraries,
    contains: good.contains,
  };
  return isZipped ? { ...found, body: gzipSync(bytes, { level: 1 }) } : perhapsCut(random, found, bytes, [400]);
};

/** `/v1/track` and the other calls, one message per request. */
export const specCallFamily: DoorFamily = (random) => {
  const call = random.pick(specCalls);
  const ofCall = specMessages.filter((message) => message instanceof Members && message.get('type') === call);
  const message = mutated(random, random.pick(ofCall.length > 0 ? ofCall : specMessages), bare);
  const isObject = message instanceof Members;
  const found: DoorCase = {
    family: `spec ${call}`,
    method: 'POST',
    path: `/v1/${random.chance(0.5) ? call : call.charAt(0)}`,
    headers: { ...json, ...basic },
    body: Buffer.alloc(0),
    verdicts: [isObject ? specVerdict(message, call) : 'refused'],
    statuses: ofLibraries,
    contains: [],
  };
  return perhapsCut(random, found, writeTree(message), [400]);
};

/** PostHog's addresses. Each accepts one event, a list, a batch, or a form. */
export const posthogFamily: DoorFamily = (random) => {
  const [id, big] = [random.digits(18), random.digits(25)];
  const good = new Members([
    ['event', 'Good'],
    ['uuid', `good-${big}`],
    ['distinct_id', new Raw(id)],
    [
      'properties',
      new Members([
        ['token', token],
        ['big', new Raw(big)],
      ]),
    ],
  ]);
  const changed = Array.from({ length: 1 + random.below(3) }, () =>
    withToken(mutated(random, random.pick(posthogMessages), bare)),
  );
  const messages = [...changed, good];
  const isList_ = random.chance(0.4);
  const bytes = writeTree(
    isList_
      ? messages
      : new Members([
          ['api_key', token],
          ['batch', messages],
          ['sent_at', '2026-11-26T00:00:00Z'],
        ]),
  );
  const asForm = random.chance(0.2);
  const found: DoorCase = {
    family: 'posthog',
    method: 'POST',
    path: random.pick(['/batch/', '/e/', '/i/v0/e/', '/i/v0/ai/batch/', '/capture/', '/track/', '/engage/']),
    headers: asForm ? { 'content-type': 'application/x-www-form-urlencoded' } : json,
    body: bytes,
    verdicts: messages.map(posthogVerdict),
    statuses: ofLibraries,
    contains: [`"big":${big}`, `"externalId":"${id}"`],
  };
  if (asForm) return { ...found, body: Buffer.from(`data=${encodeURIComponent(bytes.toString('base64'))}`) };
  return perhapsCut(random, found, bytes, [400, 401]);
};

/**
 * Replaces the source keys of a message by the test's key, in its properties: the gateway, like PostHog, refuses a list
 * with different keys.
 */
function withToken(message: Tree): Tree {
  if (!(message instanceof Members)) return message;
  const names = ['api_key', 'token', '$token'];
  const top = new Members(message.list.filter(([name]) => !names.includes(name)));
  const properties = top.get('properties');
  if (!(properties instanceof Members)) return top;
  return top.with(
    'properties',
    new Members(properties.list.filter(([name]) => !names.includes(name))).with('token', token),
  );
}
