import type { KV } from 'nats';

/**
 * The keys that match `filter`. The client returns a key again if it is written meanwhile. Await nothing else between
 * two keys: the client would lose the rest.
 */
export async function listKeys(kv: KV, filter: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const key of await kv.keys(filter)) found.add(key);
  return [...found];
}
