import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { Stage } from '../system/stage.ts';

/** A server that accepts tracks. */
export type Peer = { readonly trackUrl: string; readonly pid: number; stop(): Promise<void> };

/** Responds without storing anything: the limit of the HTTP engine alone. */
export const startBareUws = (stage: Stage): Promise<Peer> => startPeer(stage, 'bare-uws', []);

/** Fastify with one awaited publish per event, to a separate stream. */
export async function startFastifyPublish(stage: Stage, natsUrl: string): Promise<Peer> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  await connection[client].jsm.streams.add({ name: 'PEER', subjects: ['peer.*'] });
  await connection.close();
  return startPeer(stage, 'fastify-publish', [natsUrl]);
}

/** walkerOS: its collector with its API destination, behind Fastify. */
export const startWalkerOs = (stage: Stage, destinationUrl: string): Promise<Peer> =>
  startPeer(stage, 'walkeros', [destinationUrl]);

async function startPeer(stage: Stage, name: string, args: readonly string[]): Promise<Peer> {
  const port = await findFreePort();
  const child = await stage.startChild({ name, entry: `bench/peers/${name}-main`, args: [String(port), ...args] });
  await child.nextMessage();
  return { trackUrl: `http://127.0.0.1:${port}/api/v1/track`, pid: child.pid, stop: () => child.stop() };
}
