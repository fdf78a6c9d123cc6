import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A socket that is still being connected, for a client that needs a socket immediately. */
export class PendingSocket extends Duplex {
  #socket: Socket | undefined;

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
          if (!this.push(chunk)) socket.pause();
        });
        socket.once('end', () => this.push(null));
        socket.once('error', (error) => this.destroy(error));
        socket.once('close', () => this.destroy());
        onConnect();
      },
      (error: Error) => this.destroy(error),
    );
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
