import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A server that speaks RESP 2 and answers each command from a script. */
export type RespServer = {
  readonly port: number;
  /** Received commands, in order. */
  readonly commands: readonly (readonly string[])[];
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Open connections. */
  readonly open: number;
  /** Sends bytes on every open connection. */
  write(text: string): void;
};

/** Answers a command with RESP bytes; undefined: no response; `end`: closes the connection. */
export type RespScript = (command: readonly string[]) => string | undefined;

export async function startRespServer(answer: RespScript, tls?: TlsOptions): Promise<RespServer> {
  const commands: (readonly string[])[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const serve = (socket: Socket): void => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let command = readCommand(text); command !== undefined; command = readCommand(text)) {
        text = text.slice(command.length);
        commands.push(command.words);
        const reply = answer(command.words);
        if (reply === 'end') return socket.destroy();
        if (reply !== undefined) socket.write(reply);
      }
      return undefined;
    });
  };
  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    write(text) {
      for (const socket of sockets) socket.write(text);
    },
  };
}

/** Reads the first command, such as `*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n`; undefined while it is incomplete. */
function readCommand(text: string): { readonly words: readonly string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let at = head[0].length;
  for (let left = Number(head[1]); left > 0; left -= 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20));
    if (size === null) return undefined;
    const from = at + size[0].length;
    at = from + Number(size[1]) + 2;
    if (text.length < at) return undefined;
    words.push(Buffer.from(text.slice(from, at - 2), 'latin1').toString('utf8'));
  }
  return { words, length: at };
}
