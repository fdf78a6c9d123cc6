import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Maximum bytes of one response; the metadata of 200,000 partitions, the most of a cluster, has 10 MB. */
const responseBytesMax = 16 * 1_024 * 1_024;

class ResponseError extends Error {
  readonly code = 'RESPONSE_TOO_LARGE';
}

/** A socket that is still being connected, for a client that needs a socket immediately. */
export class PendingSocket extends Duplex {
  #socket: Socket | undefined;
  #receivedSinceWrite = 0;

  constructor(connecting: Promise<Socket>, onConnect: () => void) {
    super({ allowHalfOpen: false });
    connecting.then(
      (socket) => {
        if (this.destroyed) {
          socket.destroy();
          return;
        }
        this.#socket = socket;
        socket.on('data', (chunk) => {
          this.#receivedSinceWrite += chunk.length;
          if (this.#receivedSinceWrite > responseBytesMax)
            this.destroy(new ResponseError('reading a response: too large'));
          else if (!this.push(chunk)) socket.pause();
        });
        socket.once('end', () => this.push(null));
        socket.once('error', (error) => this.destroy(error));
        socket.once('close', () => this.destroy());
        onConnect();
      },
      (error: Error) => this.destroy(error),
    );
  }

  /** The client decodes in its `data` listener and throws at a malformed response, which would end the thread. */
  override emit(name: string | symbol, ...values: unknown[]): boolean {
    try {
      return super.emit(name, ...values);
    } catch (error) {
      if (name !== 'data') throw error;
      this.destroy(error as Error);
      return true;
    }
  }

  setKeepAlive(): this {
    return this;
  }

  unref(): this {
    this.#socket?.unref();
    return this;
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#receivedSinceWrite = 0;
    if (this.#socket === undefined) done(new Error('writing to a destination: it is not connected yet'));
    else this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#socket === undefined) done();
    else this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket?.destroy();
    done(error);
  }
}
