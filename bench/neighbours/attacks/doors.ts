import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Attack, Strike } from './attack.ts';
import { attackerAddress, count, createSend, strikeAtRate } from './strike-loops.ts';

const bombsPerS = 50;
const bombBytes = 5 * 1024 ** 2;
const uploads = 400;
const uploadChunkBytes = 24 * 1024;
const idleConnections = 2_000;

/** Bodies with an unknown key that grow from kilobytes to megabytes when they are unpacked. */
export const gzipBombs: Attack = {
  name: 'gzip-bombs',
  summary: `${bombsPerS} bodies per second with an unknown key that unpack to 5 MiB, a hundred times their size`,
  expects: { answers: ['401'], perS: bombsPerS },
  prepare: () => Promise.resolve({}),
  async run(strike) {
    const send = createSend(strike, 32);
    // Varied enough for the body to stay below the accepted ratio of unpacked to packed size.
    const filler = Array.from({ length: bombBytes / 110 }, (_, row) => `{"event":"${'x'.repeat(80)}${row}"}`).join(',');
    const body = gzipSync(`{"token":"src_live_nobody","events":[${filler.slice(0, bombBytes - 100)}]}`, { level: 9 });
    await strikeAtRate(strike.signal, { perS: bombsPerS, atOnceMax: 64 }, () =>
      send({ url: `${strike.target.gatewayUrl}/api/v1/batch`, headers: { 'content-encoding': 'gzip' }, body }),
    );
  },
};

/** Bodies that arrive as slowly as the HTTP engine allows. */
export const slowUploads: Attack = {
  name: 'slow-uploads',
  summary: `${uploads} bodies at a time that take minutes to arrive`,
  expects: { answers: ['opened'] },
  prepare: () => Promise.resolve({}),
  run: (strike) =>
    keepOpen(strike, uploads, async (socket) => {
      socket.write(
        'POST /api/v1/batch HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n{"token":"',
      );
      while (!socket.destroyed && !strike.signal.aborted) {
        socket.write('x'.repeat(uploadChunkBytes));
        await pause(1_000);
      }
    }),
};

/** Connections that never send a request. */
export const idleClients: Attack = {
  name: 'idle-connections',
  summary: `${idleConnections} connections without requests, reopened as they are closed`,
  expects: { answers: ['opened'] },
  prepare: () => Promise.resolve({}),
  run: (strike) =>
    keepOpen(strike, idleConnections, async (socket) => {
      while (!socket.destroyed && !strike.signal.aborted) await pause(200);
    }),
};

/** Keeps `connections` connections open: calls `use` on each, and reopens it afterwards. */
async function keepOpen(
  { target, signal, tally }: Strike,
  connections: number,
  use: (socket: Socket) => Promise<void>,
): Promise<void> {
  const { hostname, port } = new URL(target.gatewayUrl);
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const socket = connect({ host: hostname, port: Number(port), localAddress: attackerAddress });
      socket.on('error', () => undefined);
      // Any response ends the connection, whatever its content.
      socket.on('data', () => socket.destroy());
      socket.on('connect', () => count(tally, 'opened'));
      await use(socket);
      socket.destroy();
      await pause(50);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
}
