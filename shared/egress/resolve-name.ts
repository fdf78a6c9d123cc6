import type { LookupAddress } from 'node:dns';
import { lookup, promises } from 'node:dns';

export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export type NameResolverOptions = {
  /** Addresses of name servers with their ports; undefined: the host's name servers. */
  readonly servers?: readonly string[];
  /** Timeout of the first attempt, in ms. The second attempt may take twice as long. */
  readonly tryMs?: number;
};

const tries = 2;

/**
 * Resolves a name by querying name servers without a thread, so that hanging lookups do not delay others. The
 * system's own resolver, with four threads for the whole process, is used only if it responds quickly: for names
 * without a dot, and for names that no name server knows but the hosts file may contain. Rejects like `node:dns`;
 * ETIMEOUT after three seconds by default.
 */
export function createNameResolver({ servers, tryMs = 1_000 }: NameResolverOptions = {}): ResolveName {
  const resolver = new promises.Resolver({ timeout: tryMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    if (!hostname.replace(/\.$/, '').includes('.')) return askPlatform(hostname);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (found.length > 0) return found;
    const failure: unknown = v4.status === 'rejected' ? v4.reason : undefined;
    if (!isAnswer(failure) || (v6.status === 'rejected' && !isAnswer(v6.reason))) throw failure;
    return askPlatform(hostname);
  };
}

function addressesOf(result: PromiseSettledResult<readonly string[]>, family: 4 | 6): readonly LookupAddress[] {
  return result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }));
}

/** Errors that show immediately that the name has no address, or that no name server can be queried. */
const answers: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED']);

function isAnswer(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && answers.has(failure.code);
}

function askPlatform(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}
