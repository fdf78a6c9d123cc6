import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { noReads } from './visitor-reads.ts';
import type { VisitorReads } from './visitor-reads.ts';

export type VisitorShare = {
  /** Bytes of visitors that may travel with its events for each byte an account sends. */
  readonly perByteSent: number;
  /** On top of that, what an account may have travel at once. */
  readonly burstBytes: number;
  /** A visitor of this size travels with every event, whatever its account has sent. */
  readonly alwaysBytes: number;
};

/** Accounts whose allowance is remembered; one that is forgotten begins with a whole burst. */
const accountsMax = 10_000;
const toldEveryMs = 3_600_000;

/**
 * How much of their visitors may travel with the events of an account: in proportion to what it sends, so that tiny events
 * of large visitors fill no log that others share. Beyond it a large visitor travels cut short, and says so, but never
 * without what the live version of its account reads.
 */
export class VisitorAllowance {
  readonly #share: VisitorShare;
  readonly #readsOf: (accountId: string) => VisitorReads;
  readonly #left = new LRUCache<string, number>({ max: accountsMax });
  readonly #told = new LRUCache<string, true>({ max: accountsMax, ttl: toldEveryMs });

  /** `readsOf` says what the live version of an account reads of visitors: that always travels. */
  constructor(share: VisitorShare, readsOf: (accountId: string) => VisitorReads = () => noReads) {
    this.#share = share;
    this.#readsOf = readsOf;
  }

  /** The account sent so many bytes. */
  earn(accountId: string, bytes: number): void {
    const { perByteSent, burstBytes } = this.#share;
    const left = this.#left.get(accountId) ?? burstBytes;
    if (left < burstBytes) this.#left.set(accountId, Math.min(burstBytes, left + bytes * perByteSent));
  }

  /** Whether an account whose visitors are cut short was not named for an hour. */
  isNews(accountId: string): boolean {
    if (this.#told.has(accountId)) return false;
    this.#told.set(accountId, true);
    return true;
  }

  /** What may travel of a visitor; the same properties where that is all of them. */
  spend(accountId: string, properties: VisitorProperties): VisitorProperties {
    const { alwaysBytes, burstBytes } = this.#share;
    if (properties.bytes <= alwaysBytes) return properties;
    const left = this.#left.get(accountId) ?? burstBytes;
    if (left < properties.bytes) return cutVisitor(properties, alwaysBytes, this.#readsOf(accountId));
    this.#left.set(accountId, left - properties.bytes);
    return properties;
  }
}

/** The member of a visitor that travels cut short: how many of its properties do not. */
export const leftOutKey = '$left_out';

/** What most destinations read stands first. */
const firstNames: readonly string[] = ['consent', 'external_id', 'email'];

/**
 * What is read, whatever it weighs, and as many other properties as fit, whole ones, those of custom_properties last and one
 * by one. The same properties where nothing is left out.
 */
export function cutVisitor(
  properties: VisitorProperties,
  bytesMax: number,
  reads: VisitorReads = noReads,
): VisitorProperties {
  if (reads.isAll) return properties;
  const { custom_properties: custom, ...own } = properties.value;
  const rest = Object.entries(own).filter(([name]) => !firstNames.includes(name));
  const first = firstNames.flatMap((name) => (Object.hasOwn(own, name) ? [[name, own[name]] as const] : []));
  const members = isJsonObject(custom) ? Object.entries(custom) : [];
  // The braces, and the names of the two members that are added.
  let left = bytesMax - '{"custom_properties":{},"$left_out":00000}'.length;
  let leftOut = 0;
  const bytesOf = ([name, member]: readonly [string, unknown]): number =>
    Buffer.byteLength(JSON.stringify({ [name]: member }));
  for (const entry of [...first, ...rest]) if (reads.own.has(entry[0])) left -= bytesOf(entry);
  for (const entry of members) if (reads.custom.has(entry[0])) left -= bytesOf(entry);
  const keep = (entries: readonly (readonly [string, unknown])[], read: ReadonlySet<string>): JsonObject => {
    const kept: (readonly [string, unknown])[] = [];
    for (const entry of entries) {
      const bytes = read.has(entry[0]) ? 0 : bytesOf(entry);
      if (bytes > Math.max(0, left)) leftOut += 1;
      else {
        left -= bytes;
        kept.push(entry);
      }
    }
    return Object.fromEntries(kept);
  };
  const kept = { ...keep([...first, ...rest], reads.own), custom_properties: keep(members, reads.custom) };
  return leftOut === 0 ? properties : new VisitorProperties({ ...kept, [leftOutKey]: leftOut });
}
