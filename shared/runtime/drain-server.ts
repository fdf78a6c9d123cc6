import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { Socket } from 'node:net';
import { drainConnections } from './drain-connections.ts';
import type { DrainOptions, Drainable } from './drain-connections.ts';

/** Lets the clients of one of Node's own servers go; call it before the server's `close`, which cuts those that are idle. */
export type DrainServer = (options: DrainOptions) => Promise<void>;

/** Watches a server from its start, so that it can be drained. */
export function createDrainServer(server: HttpServer | HttpsServer): DrainServer {
  // By connection, each with its newest answer.
  const answers = new Map<Socket, ServerResponse | undefined>();
  let draining = false;
  // TLS connections are named by an event of their own; the plain ones beneath them ask nothing.
  server.on(server instanceof HttpsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    answers.set(socket, undefined);
    socket.once('close', () => answers.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (answers.has(socket)) answers.set(socket, answer);
    if (draining) answer.shouldKeepAlive = false;
  });
  const state: Drainable = {
    get open() {
      return [...answers.values()].filter((answer) => answer !== undefined && !answer.writableFinished).length;
    },
    get connections() {
      return answers.size;
    },
    endConnections() {
      draining = true;
      for (const answer of answers.values()) if (answer?.headersSent === false) answer.shouldKeepAlive = false;
    },
    // A server of HTTP that closes cuts idle connections at once; one of TCP leaves them be.
    refuseNew: () => void NetServer.prototype.close.call(server),
  };
  return (options) => drainConnections(state, options);
}
