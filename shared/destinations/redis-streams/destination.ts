import { isJsonObject } from '../../runtime/json.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName } from '../sdk/event.ts';
import { withinBytes } from '../sdk/http.ts';
import { checkLogin, loginSettings, serverRequest } from '../sdk/login.ts';
import { address, matching, optionalText, requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 500;
const bodyBytesMax = 8 * 1_024 ** 2;
const standardLength = 1_000_000;
const lengthMax = 1_000_000_000_000;

const settings = {
  url: address(
    requiredText(
      {
        label: 'Server',
        placeholder: 'rediss://redis.example.com:6379',
        sublabel: 'rediss:// with TLS, redis:// without. The path is the database: rediss://redis.example.com:6379/2.',
        example: 'rediss://redis.example.com:6379',
      },
      readServer,
    ),
  ),
  ...loginSettings({ label: 'ACL user' }),
  stream: requiredText(
    {
      label: 'Stream',
      placeholder: 'events',
      sublabel: 'The user needs the command XADD on this key.',
      example: 'events',
    },
    matching(/^[^\p{Cc}]{1,512}$/u, 'must be a key of at most 512 characters'),
  ),
  maxLength: optionalText(
    {
      label: 'Length',
      placeholder: String(standardLength),
      sublabel: `Approximate maximum entries in the stream; older ones are trimmed. 0 keeps all. Defaults to ${standardLength.toLocaleString('en')}.`,
    },
    readLength,
  ),
};

/**
 * Redis Streams: every event with its visitor is one entry, in order of arrival, with name, ids and JSON as fields.
 * Redis does not deduplicate; repeated events have the same `event_id`. https://redis.io/docs/latest/commands/xadd/
 */
export const redisStreams = defineDestination({
  id: 'RedisStreams',
  label: 'Redis Streams',
  settings,
  exampleSuccess: { status: 200, body: '[{"value":"1526919030474-0"}]' },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: batchEventsMax, bytes: bodyBytesMax },
    deduplicatesBy: undefined,
    errors: 'row by row, by the first word of an error',
    sources: [
      'https://redis.io/docs/latest/commands/xadd/',
      'https://redis.io/docs/latest/develop/reference/protocol-spec/',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).redisPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { url, stream, maxLength = standardLength } = given;
  checkLogin(given);
  const trimming = maxLength === 0 ? [] : ['MAXLEN', '~', String(maxLength)];
  const commandOf = (event: OutboundEvent): readonly string[] => {
    const { id, visitorId } = outboundHead(event);
    const fields = { event: outboundName(event), event_id: id, visitor_id: visitorId, data: eventJson(event) };
    const texts = Object.entries(fields).map(([name, text]) => [name, text.toWellFormed()]);
    return ['XADD', stream, ...trimming, '*', ...texts.flat()];
  };
  return {
    batchEventsMax,
    retriesRows: true,
    buildRequest: (events) =>
      withinBytes(serverRequest({ url, login: given, body: events.map(commandOf), events }), bodyBytesMax),
    readAnswer,
  };
}

function readServer(text: string, key: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || !/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) {
    throw new SettingError(key, 'must be rediss:// or redis:// with a host and a port');
  }
  if (url.username !== '' || url.password !== '')
    throw new SettingError(key, 'must not contain a user name or password');
  if (!/^(\/\d{0,4})?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new SettingError(key, 'may have a database number after the port, and nothing else');
  }
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
}

function readLength(text: string, key: string): number {
  const length = Number(text);
  if (!/^\d{1,13}$/.test(text.trim()) || length > lengthMax) {
    throw new SettingError(key, `must be a whole number from 0 to ${lengthMax}`);
  }
  return length;
}

/** Error codes for a wrong login, permission, key or node, which are faults of the destination, not of an event. */
const ofAccess: ReadonlySet<string> = new Set(['ASK', 'MOVED', 'NOAUTH', 'NOPERM', 'WRONGPASS', 'WRONGTYPE']);
const throttling: ReadonlySet<string> = new Set(['OOM']);
const passing: ReadonlySet<string> = new Set([
  'BUSY',
  'CLUSTERDOWN',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'READONLY',
  'TRYAGAIN',
]);

function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  if (answer.status !== 200) return undefined;
  const replies = repliesOf(answer);
  return events.map((_event, index) => outcomeOf(replies[index]));
}

function repliesOf({ body }: OutboundAnswer): readonly unknown[] {
  try {
    const replies: unknown = JSON.parse(body);
    return Array.isArray(replies) ? replies : [];
  } catch {
    return [];
  }
}

function outcomeOf(reply: unknown): Outcome {
  if (!isJsonObject(reply)) return unreadable;
  const { value, error } = reply;
  if (typeof value === 'string') return { kind: 'delivered' };
  if (typeof error !== 'string' || !/^[A-Z]{2,32}$/.test(error)) return unreadable;
  if (ofAccess.has(error)) return { kind: 'retry', reason: error, refusesAccess: true };
  if (throttling.has(error)) return { kind: 'retry', reason: error, isThrottled: true };
  return { kind: passing.has(error) ? 'retry' : 'reject', reason: error };
}

const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each entry' };
