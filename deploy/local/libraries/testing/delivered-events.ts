import { expect } from 'vitest';
import type { StackClient } from '../../testing/stack-client.ts';

export type DeliveredEvent = {
  readonly event: {
    readonly id: string;
    readonly event: string;
    readonly time: number;
    readonly received_at: number;
    readonly event_properties: Readonly<Record<string, unknown>>;
    readonly context: Readonly<Record<string, unknown>>;
  };
  readonly visitor: { readonly id: string; readonly [property: string]: unknown };
};

const settle = { timeout: 45_000, interval: 100 };

/** Everything a sink received, in order of arrival. */
export async function deliveredEvents(client: StackClient, path: string): Promise<readonly DeliveredEvent[]> {
  const requests = await client.sinkRequests(path);
  return requests.toReversed().map(({ body }) => body as DeliveredEvent);
}

/**
 * Waits until events with all these names have arrived for visitors that `isOurs` accepts, and returns them by time of
 * arrival.
 */
export async function awaitEvents(
  client: StackClient,
  names: readonly string[],
  isOurs: (event: DeliveredEvent) => boolean,
  path = '/demo',
): Promise<readonly DeliveredEvent[]> {
  const ours = async (): Promise<readonly DeliveredEvent[]> => (await deliveredEvents(client, path)).filter(isOurs);
  const found = async (): Promise<readonly string[]> => [...new Set((await ours()).map(({ event }) => event.event))];
  await expect.poll(found, settle).toEqual(expect.arrayContaining([...names]));
  return ours();
}
