import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { sleep } from '../../machine/wait-until.ts';

/** Trouble on a link. A cut link holds bytes without an error, as if packets were dropped. */
export type Trouble = { readonly kind: 'cut' } | { readonly kind: 'slow'; readonly ms: number };

/** Selects connections by the parts of the stack at their two ends. */
export type Between = (from: string, to: string) => boolean;

/**
 * The network between the parts of a stack: relays that a fault can slow down or cut. Bytes held during a cut arrive
 * afterwards, like TCP retransmissions.
 */
export type Network = {
  /**
   * Returns a port on 127.0.0.1 that forwards from `from` to `port` of `to`. If `port` is a function, it is called for
   * each connection.
   */
  relay(from: string, to: string, port: number | (() => number)): Promise<number>;
  /** Disturbs all matching connections, including future ones; returns a function that ends the trouble. */
  trouble(trouble: Trouble, matches: Between): () => void;
  close(): Promise<void>;
};

type Rule = { readonly trouble: Trouble; readonly matches: Between };

export function createNetwork(): Network {
  const rules = new Set<Rule>();
  const closing: (() => Promise<void>)[] = [];
  let changed: () => void = () => undefined;
  let change = new Promise<void>((resolve) => {
    changed = resolve;
  });

  const troublesOn = (from: string, to: string): readonly Trouble[] =>
    [...rules].filter(({ matches }) => matches(from, to)).map(({ trouble }) => trouble);

  const isCut = (from: string, to: string): boolean => troublesOn(from, to).some(({ kind }) => kind === 'cut');

  const pass = async (from: string, to: string): Promise<void> => {
    while (isCut(from, to)) await change;
    const waitMs = troublesOn(from, to).reduce((sum, one) => sum + (one.kind === 'slow' ? one.ms : 0), 0);
    if (waitMs === 0) return;
    await sleep(waitMs);
    while (isCut(from, to)) await change;
  };

  return {
    async relay(from, to, port) {
      const sockets = new Set<Socket>();
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
        // Watched before the link is usable; otherwise, an error of this socket during a cut would be unhandled.
        const ends: [Socket, ...Socket[]] = [near];
        watch(near, ends, sockets);
        void pass(from, to).then(() => {
          if (near.destroyed) return;
          const far = connect({
            port: typeof port === 'number' ? port : port(),
            host: '127.0.0.1',
            allowHalfOpen: true,
            noDelay: true,
          });
          ends.push(far);
          watch(far, ends, sockets);
          void pump(near, far, () => pass(from, to));
          void pump(far, near, () => pass(from, to));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closing.push(async () => {
        server.close();
        for (const socket of sockets) socket.destroy();
        await once(server, 'close');
      });
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    },
    trouble(trouble, matches) {
      const rule = { trouble, matches };
      rules.add(rule);
      return () => {
        rules.delete(rule);
        changed();
        change = new Promise((resolve) => {
          changed = resolve;
        });
      };
    },
    async close() {
      rules.clear();
      changed();
      await Promise.all(closing.map((close) => close()));
    },
  };
}

/** An error of one end destroys both ends. */
function watch(socket: Socket, ends: readonly Socket[], sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('error', () => {
    for (const end of ends) end.destroy();
  });
  socket.once('close', () => sockets.delete(socket));
}

async function pump(from: Socket, to: Socket, pass: () => Promise<void>): Promise<void> {
  try {
    for await (const chunk of from.iterator({ destroyOnReturn: false })) {
      await pass();
      if (!to.write(chunk as Buffer)) await once(to, 'drain');
    }
    await pass();
    to.end();
  } catch {
    // One of the two sockets broke.
    from.destroy();
    to.destroy();
  }
}
