import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** How a connection ended, as its client saw it: the server's FIN, or a reset. */
export type ConnectionEnd = 'ended' | 'reset';

export type KeptAnswer = { readonly status: number; readonly closes: boolean; readonly text: string };

/** A kept connection on a bare socket. No library retries on it, so a test sees a reset. */
export type KeptConnection = {
  /** Sends a request and waits for its answer. Rejects if the connection ends first. */
  ask(request: string): Promise<KeptAnswer>;
  /** Sends bytes without waiting. */
  send(bytes: string): void;
  /** Undefined while the connection is open. */
  readonly end: ConnectionEnd | undefined;
  /** All that the server sent. */
  readonly received: string;
  readonly ended: Promise<ConnectionEnd>;
  destroy(): void;
};

export class ConnectionEndedError extends Error {
  readonly code: ConnectionEnd;
  constructor(code: ConnectionEnd) {
    super(`the connection was ${code} before the answer came`);
    this.code = code;
  }
}

export async function keepConnection(port: number): Promise<KeptConnection> {
  const socket = await open(port);
  let received = '';
  let read = 0;
  let end: ConnectionEnd | undefined;
  let wake: () => void = () => undefined;
  const ended = new Promise<ConnectionEnd>((resolve) => {
    const finish = (how: ConnectionEnd): void => {
      end ??= how;
      wake();
      resolve(end);
    };
    socket.on('error', () => finish('reset'));
    socket.on('end', () => finish('ended'));
    socket.on('close', () => finish('ended'));
  });
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    wake();
  });
  return {
    async ask(request) {
      socket.write(request);
      for (;;) {
        const answer = nextAnswer(received.slice(read));
        if (answer !== undefined) {
          read += answer.length;
          return answer;
        }
        if (end !== undefined) throw new ConnectionEndedError(end);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    send: (bytes) => void socket.write(bytes),
    get end() {
      return end;
    },
    get received() {
      return received;
    },
    ended,
    destroy: () => void socket.destroy(),
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}

function nextAnswer(text: string): (KeptAnswer & { readonly length: number }) | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const length = headEnd + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (text.length < length) return undefined;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  return { status, closes: /^connection: close$/im.test(head), text: text.slice(0, length), length };
}
