import type { Socket } from 'node:net';
import type { OutboundAnswer, OutboundRequest } from '../outbound.ts';
import { loginOf, protocolAnswer, RefusedError, serverOf } from './protocol.ts';
import type { Protocol, Session } from './protocol.ts';
import { createRespConnection } from './resp-connection.ts';
import type { RespConnection } from './resp-connection.ts';

/**
 * Redis. A request's body is a list of commands, each a list of texts; they are sent in one pipeline and run in
 * order. The response is a list of the same length: `{"value": …}`, or `{"error": "OOM"}` with the first word of the
 * error. All Redis versions and compatible servers support RESP 2, which a connection has until it asks for another.
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
  const connection = createRespConnection(socket);
  const login = loginOf(request);
  if (login !== undefined) {
    const { user, password } = login;
    await accepted(connection, ['AUTH', ...(user === '' ? [password] : [user, password])]);
  }
  const database = /^\/(\d{1,4})$/.exec(new URL(request.url).pathname)?.[1] ?? '0';
  // A server that has no free client slot or requires a login refuses only when it receives a command, so a ping is
  // sent if there is no database to select.
  await accepted(connection, database === '0' ? ['PING'] : ['SELECT', database]);
  return {
    get isUsable() {
      return socket.writable;
    },
    close: () => void socket.destroy(),
    async exchange({ body = '[]' }) {
      const replies = await connection.ask(JSON.parse(body) as string[][]);
      return protocolAnswer(
        200,
        replies.map((reply) => ('error' in reply ? { error: firstWord(reply.error) } : reply)),
      );
    },
  };
}

/** https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors */
function firstWord(error: string): string {
  return /^[A-Z]{2,32}/.exec(error)?.[0] ?? 'ERR';
}

const ofAccess: ReadonlySet<string> = new Set(['NOAUTH', 'NOPERM', 'WRONGPASS']);

async function accepted(connection: RespConnection, command: readonly string[]): Promise<void> {
  const [reply] = await connection.ask([command]);
  if (reply !== undefined && 'error' in reply) throw new RefusedError(refusal(reply.error));
}

function refusal(error: string): OutboundAnswer {
  const word = firstWord(error);
  if (/max number of clients/.test(error)) return protocolAnswer(429, { error: word });
  // Redis answers ERR to a login if no password is configured, and to a database out of range.
  return protocolAnswer(ofAccess.has(word) || word === 'ERR' ? 401 : 503, { error: word });
}
