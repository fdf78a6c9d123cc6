import type { Socket } from 'node:net';
import type { AuthenticationProviderArgs, KafkaConfig, Mechanism, Producer } from 'kafkajs';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { EgressError } from '../egress-rules.ts';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';
import { PendingSocket } from './pending-socket.ts';
import { loginOf, protocolAnswer, RefusedError } from './protocol.ts';
import type { Network, Protocol, Session } from './protocol.ts';

/** The body of a request: messages for one topic, in order. */
const Produce = Type.Object({
  topic: Type.String({ minLength: 1 }),
  messages: Type.Array(
    Type.Object({
      key: Type.String(),
      value: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
    }),
    { minItems: 1 },
  ),
});
const produce = Compile(Produce);

const standardPort = 9_092;
/** The client's modules for SCRAM. */
const scramFiles: Readonly<Record<string, string>> = {
  'scram-sha-256': 'scram256.js',
  'scram-sha-512': 'scram512.js',
};
/** Brokers store passwords with 4,096 to 16,384 iterations of SCRAM. */
const iterationsMax = 100_000;
/**
 * Retries within one request: the client finds a new leader, and the broker deduplicates by sequence numbers.
 */
const retry = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 };

/**
 * Apache Kafka: an idempotent producer that waits for all in-sync replicas. The host of the URL is the first bootstrap
 * broker; in its query, `brokers` lists further brokers and `sasl` is the login mechanism. The response is
 * `{"stored": 3}`, or `{"error": "MESSAGE_TOO_LARGE"}` if not all messages were stored.
 * https://kafka.apache.org/protocol.html
 */
export const kafkaProtocol: Protocol = {
  schemes: ['kafka:', 'kafkas:'],
  ports: [],
  sessionsMax: 1,
  open: openSession,
};

async function openSession(request: OutboundRequest, { connect, connectTimeoutMs }: Network): Promise<Session> {
  const { CompressionTypes, Kafka, logLevel, Partitioners } = await import('kafkajs');
  const url = new URL(request.url);
  const isSecure = url.protocol === 'kafkas:';
  const sockets = new Set<PendingSocket>();
  let forbidden: EgressError | undefined;
  let isUsable = true;
  let isClosed = false;
  const socketFactory = ({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket => {
    if (isClosed) throw closedError();
    const socket = new PendingSocket(connect({ host, port, isSecure }), onConnect);
    sockets.add(socket);
    socket.on('error', (error) => {
      if (error instanceof EgressError) forbidden = error;
    });
    socket.once('close', () => {
      sockets.delete(socket);
      isUsable = false;
    });
    // The client uses only members of a socket that PendingSocket has.
    return socket as unknown as Socket;
  };
  const sasl = await saslOf(request, url);
  const kafka = new Kafka({
    clientId: 'sluice',
    brokers: [url.host, ...(url.searchParams.get('brokers')?.split(',') ?? [])].map(withPort),
    ...(sasl === undefined ? {} : { sasl }),
    socketFactory,
    connectionTimeout: connectTimeoutMs,
    retry,
    logLevel: logLevel.NOTHING,
  });
  const producer: Producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    // The partitioner of the Java clients, so that a key has the same partition for every producer of the topic.
    createPartitioner: Partitioners.DefaultPartitioner,
    retry,
  });
  const close = (): void => {
    isUsable = false;
    isClosed = true;
    producer.disconnect().catch(() => undefined);
    // Without an error, the client would wait for a response, then connect and produce again.
    for (const socket of sockets) socket.destroy(closedError());
  };
  try {
    await producer.connect();
  } catch (error) {
    close();
    const answer = forbidden === undefined ? answerOf(error) : undefined;
    throw answer === undefined ? (forbidden ?? error) : new RefusedError(answer);
  }
  return {
    get isUsable() {
      return isUsable;
    },
    close,
    async exchange({ body = '' }) {
      const given: unknown = JSON.parse(body);
      if (!produce.Check(given)) return protocolAnswer(400, { error: 'the body must be a topic and its messages' });
      try {
        await producer.send({ ...given, acks: -1, compression: CompressionTypes.GZIP });
        return protocolAnswer(200, { stored: given.messages.length });
      } catch (error) {
        // The next producer gets a new id, because a failure leaves a gap in the sequence of this one.
        isUsable = false;
        if (forbidden !== undefined) throw forbidden;
        const answer = answerOf(error);
        if (answer === undefined) throw error;
        return answer;
      }
    },
  };
}

const closedError = (): Error => new Error('connecting to a broker: the session is closed');

function withPort(broker: string): string {
  return /:\d+$/.test(broker) ? broker : `${broker}:${standardPort}`;
}

async function saslOf(request: OutboundRequest, url: URL): Promise<KafkaConfig['sasl']> {
  const login = loginOf(request);
  const mechanism = url.searchParams.get('sasl') ?? 'plain';
  if (login === undefined) return undefined;
  const sasl = { username: login.user, password: login.password };
  if (mechanism === 'plain') return { mechanism, ...sasl };
  const file = scramFiles[mechanism];
  if (file === undefined) return undefined;
  const { default: scram } = (await import(`kafkajs/src/broker/saslAuthenticator/${file}`)) as ScramModule;
  const authenticationProvider: Provider = (args) => scram(sasl)({ ...args, saslAuthenticate: limited(args) });
  return { mechanism, authenticationProvider };
}

type Provider = Mechanism['authenticationProvider'];
type ScramModule = { readonly default: (login: { username: string; password: string }) => Provider };

/** The client computes as many iterations as the broker demands. */
function limited({ saslAuthenticate }: AuthenticationProviderArgs): AuthenticationProviderArgs['saslAuthenticate'] {
  return async (message) => {
    const reply = await saslAuthenticate(message);
    const { i = '0' } = reply as { readonly i?: string };
    if (Number.parseInt(i, 10) > iterationsMax) throw new Error('logging in to a broker: too many SCRAM iterations');
    return reply;
  };
}

/**
 * Error types that concern the login, its permissions, or a wrong or missing topic.
 * https://kafka.apache.org/protocol.html#protocol_error_codes
 */
const ofAccess: ReadonlySet<string> = new Set([
  'CLUSTER_AUTHORIZATION_FAILED',
  'ILLEGAL_SASL_STATE',
  'INVALID_TOPIC_EXCEPTION',
  'SASL_AUTHENTICATION_FAILED',
  'TOPIC_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'UNSUPPORTED_SASL_MECHANISM',
]);
const tooLarge: ReadonlySet<string> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
/** Error types that concern a message. */
const ofMessage: ReadonlySet<string> = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP', 'POLICY_VIOLATION']);

/** The broker's error as a response; undefined for other errors. */
function answerOf(error: unknown): OutboundAnswer | undefined {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    if (cause.name === 'KafkaJSSASLAuthenticationError') {
      return protocolAnswer(401, { error: 'SASL_AUTHENTICATION_FAILED' });
    }
    const type = 'type' in cause && typeof cause.type === 'string' ? cause.type : undefined;
    if (type !== undefined) return protocolAnswer(statusOf(type), { error: type });
  }
  return undefined;
}

function statusOf(type: string): number {
  if (ofAccess.has(type)) return 401;
  if (tooLarge.has(type)) return 413;
  if (ofMessage.has(type)) return 422;
  return type === 'THROTTLING_QUOTA_EXCEEDED' ? 429 : 503;
}
