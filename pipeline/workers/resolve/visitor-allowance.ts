import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';

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
 * of large visitors fill no log that others share. Beyond it a visitor travels cut short, and says so.
 */
export class VisitorAllowance {
  readonly #share: VisitorShare;
  readonly #left = new LRUCache<string, number>({ max: accountsMax });
  readonly #told = new LRUCache<string, true>({ max: accountsMax, ttl: toldEveryMs });

  constructor(share: VisitorShare) {
    this.#share = share;
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
    if (left < properties.bytes) return cutVisitor(properties, alwaysBytes);
    this.#left.set(accountId, left - properties.bytes);
    return properties;
  }
}

/** The member of a visitor that travels cut short: how many of its properties do not. */
export const leftOutKey = '$left_out';

/** What rules and destinations cannot do without stands first. */
const firstNames: readonly string[] = ['consent', 'external_id', 'email'];

/** As many properties as fit, whole ones, those of custom_properties last and one by one. */
export function cutVisitor({ value }: VisitorProperties, bytesMax: number): VisitorProperties {
  const { custom_properties: custom, ...own } = value;
  const rest = Object.entries(own).filter(([name]) => !firstNames.includes(name));
  const first = firstNames.flatMap((name) => (Object.hasOwn(own, name) ? [[name, own[name]] as const] : []));
  const members = isJsonObject(custom) ? Object.entries(custom) : [];
  // The braces, and the names of the two members that are added.
  let left = bytesMax - '{"custom_properties":{},"$left_out":00000}'.length;
  let leftOut = 0;
  const keep = (entries: readonly (readonly [string, unknown])[]): JsonObject => {
    const kept: [string, unknown][] = [];
    for (const [name, member] of entries) {
      const bytes = Buffer.byteLength(JSON.stringify({ [name]: member }));
      if (bytes > left) leftOut += 1;
      else {
        left -= bytes;
        kept.push([name, member]);
      }
    }
    return Object.fromEntries(kept);
  };
  const kept = { ...keep([...first, ...rest]), custom_properties: keep(members) };
  return new VisitorProperties({ ...kept, [leftOutKey]: leftOut });
}
