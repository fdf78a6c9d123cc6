import type { Socket } from 'node:net';
import type { AbstractConnector, Redis } from 'ioredis';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';
import { loginOf, protocolAnswer, RefusedError, serverOf } from './protocol.ts';
import type { Protocol, Session } from './protocol.ts';

/**
 * Redis. A request's body is a list of commands, each a list of texts; they are sent in one pipeline and run in
 * order. The response is a list of the same length: `{"value": …}`, or `{"error": "OOM"}` with the first word of the
 * error. https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export const redisProtocol: Protocol = {
  schemes: ['redis:', 'rediss:'],
  ports: [],
  sessionsMax: 4,
  async open(request, { connect }) {
    const socket = await connect({ ...serverOf(request, 6_379), isSecure: request.url.startsWith('rediss:') });
    return openSession(request, socket);
  },
};

async function openSession(request: OutboundRequest, socket: Socket): Promise<Session> {
  const { AbstractConnector, Redis } = await import('ioredis');
  const redis = new Redis({
    Connector: connectorOf(AbstractConnector, socket),
    lazyConnect: true,
    // All Redis versions and compatible servers support RESP 2.
    protocol: 2,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let isUsable = true;
  const close = (): void => {
    isUsable = false;
    redis.disconnect();
    socket.destroy();
  };
  socket.once('close', () => (isUsable = false));
  // Ignored, because the commands reject with the same error.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const login = loginOf(request);
    if (login !== undefined) {
      const { user, password } = login;
      await refusedFor(redis.call('AUTH', ...(user === '' ? [password] : [user, password])));
    }
    const database = /^\/(\d{1,4})$/.exec(new URL(request.url).pathname)?.[1] ?? '0';
    // A server that has no free client slot or requires a login refuses only when it receives a command, so a ping is
    // sent if there is no database to select.
    await refusedFor(database === '0' ? redis.call('PING') : redis.call('SELECT', database));
  } catch (error) {
    close();
    throw error;
  }
  return {
    get isUsable() {
      return isUsable;
    },
    close,
    exchange: async ({ body = '[]' }) => protocolAnswer(200, await run(redis, JSON.parse(body) as string[][])),
  };
}

/** ioredis expects a connector; the socket is already connected. */
function connectorOf(Connector: typeof AbstractConnector, socket: Socket) {
  return class extends Connector {
    constructor() {
      super(0);
    }

    connect(): Promise<Socket> {
      this.connecting = true;
      this.stream = socket;
      return Promise.resolve(socket);
    }
  };
}

async function run(redis: Redis, commands: readonly (readonly string[])[]): Promise<readonly unknown[]> {
  const pipeline = redis.pipeline();
  for (const [name = '', ...args] of commands) pipeline.call(name, ...args);
  const results = (await pipeline.exec()) ?? [];
  return results.map(([error, value]) => {
    if (error === null) return { value };
    if (error.name !== 'ReplyError') throw error;
    return { error: firstWord(error) };
  });
}

/** https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
function firstWord({ message }: Error): string {
  return /^[A-Z]{2,32}/.exec(message)?.[0] ?? 'ERR';
}

const ofAccess: ReadonlySet<string> = new Set(['NOAUTH', 'NOPERM', 'WRONGPASS']);

async function refusedFor(reply: Promise<unknown>): Promise<void> {
  try {
    await reply;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
    throw new RefusedError(refusal(error));
  }
}

function refusal(error: Error): OutboundAnswer {
  const word = firstWord(error);
  if (/max number of clients/.test(error.message)) return protocolAnswer(429, { error: word });
  // Redis answers ERR to a login if no password is configured, and to a database out of range.
  return protocolAnswer(ofAccess.has(word) || word === 'ERR' ? 401 : 503, { error: word });
}
