import { hash } from 'node:crypto';
import { jsonAnswer } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName } from '../sdk/event.ts';
import { withinBytes } from '../sdk/http.ts';
import { checkLogin, loginSettings, serverRequest } from '../sdk/login.ts';
import { address, choice, matching, requiredText, SettingError } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 500;
/** By default a broker accepts batches of up to 1,048,588 bytes (`message.max.bytes`). */
const bodyBytesMax = 1_000_000;
const brokersMax = 10;
const keyCharactersMax = 256;

const settings = {
  brokers: address(
    requiredText(
      {
        label: 'Brokers',
        placeholder: 'broker-1.example.com:9092, broker-2.example.com:9092',
        sublabel: `Up to ${brokersMax} bootstrap brokers with ports. The other brokers are discovered from them.`,
        example: 'broker-1.example.com:9092',
      },
      readBrokers,
    ),
  ),
  security: address(
    choice({
      label: 'Security',
      options: [
        { label: 'TLS', value: 'tls' },
        { label: 'None', value: 'none' },
      ],
      sublabel: "With TLS, the broker's certificate is verified before anything is sent.",
      fallback: 'tls',
      example: 'tls',
    }),
  ),
  saslMechanism: choice({
    label: 'SASL mechanism',
    options: [
      { label: 'None', value: 'none' },
      { label: 'PLAIN', value: 'plain' },
      { label: 'SCRAM-SHA-256', value: 'scram-sha-256' },
      { label: 'SCRAM-SHA-512', value: 'scram-sha-512' },
    ],
    sublabel: 'The authentication method for user name and password.',
    fallback: 'none',
    example: 'plain',
  }),
  ...loginSettings({ example: { username: 'sluice', password: 'example-password' } }),
  topic: requiredText(
    {
      label: 'Topic',
      placeholder: 'events',
      sublabel:
        'The topic must exist. The user needs WRITE on it and, before Kafka 3.0, IDEMPOTENT_WRITE on the cluster.',
      example: 'events',
    },
    matching(/^(?!\.{1,2}$)[\w.-]{1,249}$/, 'must be a topic name'),
  ),
};

/**
 * Apache Kafka: every event with its visitor is one JSON message with the visitor as key, so that a visitor's events
 * go to one partition in order. The producer is idempotent within a request; consumers can recognise the repetitions
 * of a later retry by the header `event_id`. https://kafka.apache.org/protocol.html
 */
export const kafka = defineDestination({
  id: 'Kafka',
  label: 'Apache Kafka',
  settings,
  exampleSuccess: { status: 200, body: '{"stored":1}' },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: batchEventsMax, bytes: bodyBytesMax },
    deduplicatesBy: undefined,
    errors: 'an error type for the whole request',
    sources: [
      'https://kafka.apache.org/protocol.html',
      'https://kafka.apache.org/documentation/#producerconfigs',
      'https://kafka.apache.org/documentation/#security_authz',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: ['logins with Kerberos (GSSAPI), OAUTHBEARER or AWS IAM', 'transactions across requests'],
    namesElsewhere: ['Apache Kafka'],
  },
  loadPlatform: async () => (await import('./platform.ts')).kafkaPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { brokers, security, saslMechanism, topic } = given;
  const [first = '', ...others] = brokers;
  checkLogin(given);
  const hasLogin = given.password !== undefined;
  if (hasLogin && saslMechanism === 'none') throw new SettingError('saslMechanism', 'is required with a password');
  if (!hasLogin && saslMechanism !== 'none') throw new SettingError('password', 'is required with a SASL mechanism');
  const query = new URLSearchParams({
    ...(others.length === 0 ? {} : { brokers: others.join(',') }),
    ...(saslMechanism === 'none' ? {} : { sasl: saslMechanism }),
  }).toString();
  const url = `${security === 'tls' ? 'kafkas' : 'kafka'}://${first}${query === '' ? '' : `?${query}`}`;
  return {
    batchEventsMax,
    buildRequest: (events) =>
      withinBytes(
        serverRequest({ url, login: given, body: { topic, messages: events.map(messageOf) }, events }),
        bodyBytesMax,
      ),
    readAnswer,
  };
}

function messageOf(event: OutboundEvent) {
  const { id, visitorId } = outboundHead(event);
  return {
    key: keyOf(visitorId),
    value: eventJson(event).toWellFormed(),
    headers: { event: outboundName(event).toWellFormed(), event_id: id.toWellFormed() },
  };
}

function keyOf(visitorId: string): string {
  const fits = visitorId !== '' && visitorId.length <= keyCharactersMax && visitorId.isWellFormed();
  return fits ? visitorId : hash('sha256', visitorId, 'hex');
}

function readBrokers(text: string, key: string): readonly string[] {
  const brokers = text.split(',').flatMap((broker) => broker.trim() || []);
  // No IPv6 addresses, because the client divides host and port at the first colon.
  const areServers = brokers.every(
    (broker) => /^[\w.-]{1,253}(:\d{1,5})?$/.test(broker) && Number(broker.split(':')[1] ?? 0) <= 65_535,
  );
  if (brokers.length === 0 || brokers.length > brokersMax || !areServers) {
    throw new SettingError(key, `must be 1 to ${brokersMax} brokers separated by commas, each host:port`);
  }
  return brokers;
}

/** Outcomes of all events: the status classifies the broker's error, whose type becomes the reason. */
function readAnswer(answer: OutboundAnswer, events: readonly OutboundEvent[]): readonly Outcome[] | undefined {
  const said = jsonAnswer(answer);
  const { status } = answer;
  if (status === 200) {
    const isStored = said?.['stored'] === events.length;
    return events.map(() => (isStored ? { kind: 'delivered' } : unreadable));
  }
  const error = said?.['error'];
  if (typeof error !== 'string' || !/^[A-Z_]{2,64}$/.test(error)) return undefined;
  const isOfOneEvent = status >= 400 && status < 500 && status !== 401 && status !== 429;
  // Without outcomes, the dispatcher finds the invalid message by sending smaller batches.
  if (isOfOneEvent && events.length > 1) return undefined;
  const outcome = outcomeOf(status, error);
  return events.map(() => outcome);
}

const unreadable: Outcome = { kind: 'retry', reason: 'the response has no result for each message' };

function outcomeOf(status: number, reason: string): Outcome {
  if (status === 401) return { kind: 'retry', reason, refusesAccess: true };
  if (status === 429) return { kind: 'retry', reason, isThrottled: true };
  return { kind: status >= 500 ? 'retry' : 'reject', reason };
}
