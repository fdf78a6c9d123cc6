import type { LookupAddress } from 'node:dns';
import { lookup, promises, TIMEOUT } from 'node:dns';
import pLimit from 'p-limit';

export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export type NameResolverOptions = {
  /** Addresses of name servers with their ports; undefined: the host's name servers. */
  readonly servers?: readonly string[];
  /** Timeout of the first attempt, in ms. The second attempt may take twice as long. */
  readonly tryMs?: number;
  /** Whether the platform is asked for names with a dot that name servers say do not exist. Default: no. */
  readonly asksPlatform?: boolean;
  /** The system's own resolver. */
  readonly platform?: ResolveName;
};

const tries = 2;
/**
 * An account's name server may answer once and then hang the platform's lookup. libuv uses two threads for lookups;
 * connections to the log and to PostgreSQL need them, too.
 */
const inTurn = pLimit(1);

/**
 * Resolves a name by querying name servers without a thread, so that hanging lookups do not delay others. The
 * system's own resolver, with four threads for the whole process, is used only for names without a dot, and, one at a
 * time, for names that no name server knows but the hosts file or a search domain may. Rejects like `node:dns`;
 * ETIMEOUT after three seconds by default.
 */
export function createNameResolver(options: NameResolverOptions = {}): ResolveName {
  const { servers, tryMs = 1_000, asksPlatform = false, platform = askPlatform } = options;
  const resolver = new promises.Resolver({ timeout: tryMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    if (!hostname.replace(/\.$/, '').includes('.')) return platform(hostname);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (found.length > 0) return found;
    const failure: unknown = v4.status === 'rejected' ? v4.reason : undefined;
    if (hasCode(failure, unqueried)) return platform(hostname);
    if (!asksPlatform || !hasCode(failure, unknown)) throw failure;
    if (v6.status === 'rejected' && !hasCode(v6.reason, unknown)) throw failure;
    return askInTurn(platform, hostname, tryMs * 3);
  };
}

function addressesOf(result: PromiseSettledResult<readonly string[]>, family: 4 | 6): readonly LookupAddress[] {
  return result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }));
}

/** Errors that show immediately that the name has no address. */
const unknown: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED']);
/** No name server can be queried: accounts cannot cause that. */
const unqueried: ReadonlySet<unknown> = new Set(['ECONNREFUSED']);

function hasCode(failure: unknown, codes: ReadonlySet<unknown>): boolean {
  return failure instanceof Error && 'code' in failure && codes.has(failure.code);
}

function askInTurn(platform: ResolveName, hostname: string, waitMs: number): ReturnType<ResolveName> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(Object.assign(new Error('resolving a name: the platform does not answer'), { code: TIMEOUT }));
    }, waitMs);
    inTurn(async () => (isOver ? undefined : resolve(await platform(hostname))))
      .catch(reject)
      .finally(() => clearTimeout(timer));
  });
}

function askPlatform(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });
}
