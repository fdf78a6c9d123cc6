import { randomInt } from 'node:crypto';
import { asBuffer } from '../../../shared/contracts/events/frame.ts';
import type { Stretch } from '../../../shared/json/byte-writer.ts';
import { maskValue } from '../../../shared/routing/tracking-plan/describe-hit.ts';
import type { PersonalKind } from '../../../shared/routing/personal-data/personal-kinds.ts';
import { charactersMax, kindsOf } from '../../../shared/routing/personal-data/value-kind.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { murmur3 } from '../../../shared/runtime/murmur3.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';

/** The sampled parts of a resolved event. */
export type SampledEvent = {
  readonly accountId: string;
  readonly name: string;
  readonly isTest: boolean;
  readonly receivedAtMs: number;
  readonly properties: unknown;
  readonly context: unknown;
  /** Properties that the event gives its visitor. */
  readonly given: readonly JsonObject[];
};

/** A property that looks personal: a row of `personal_data`, with the counts since the last write. */
export type PersonalFinding = {
  readonly accountId: string;
  /** `*`: every event. */
  readonly event: string;
  /** Path of the property, as in the tracking plan: `event_properties.products.price`. */
  readonly property: string;
  readonly kind: PersonalKind;
  /** Whether the property's name, the shape of its values or both look personal. */
  readonly basis: 'name' | 'shape' | 'both';
  readonly seen: number;
  readonly matched: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The shape of one of its values; never the value itself. */
  readonly shape: string;
};

type Property = {
  readonly event: string;
  readonly property: string;
  readonly byName: PersonalKind | undefined;
  readonly shapes: Map<PersonalKind, number>;
  /** Seeded hashes of the values, only in memory, up to the number of distinct values that is needed. */
  readonly distinct: Set<number>;
  seen: number;
  /** The counts at the last write. */
  written: { seen: number; matched: number };
  firstAtMs: number;
  lastAtMs: number;
  shape: string;
};

type Account = { readonly properties: Map<string, Property>; secondAtMs: number; taken: number };

const eventsPerSecond = { account: 20, all: 100 } as const;
const propertiesMax = { event: 100, account: 2_000, all: 20_000 } as const;
const depthMax = 3;
const itemsMax = 3;
const jsonCharactersMax = 32 * 1_024;
const nameCharactersMax = 200;
const distinctMin = 20;
const namedMin = 3;
const dayMs = 86_400_000;
/** Properties that belong to the visitor or the service anyway. */
const knownContext: ReadonlySet<string> = new Set(['ip', 'user_agent', 'locale', 'timezone', 'gpc', 'tcf', 'gpp']);
/** Kinds for which the name suffices, because their values have no typical shape. */
const byNameAlone: ReadonlySet<PersonalKind> = new Set(['name', 'address', 'health', 'secret']);
/** Kinds whose check accepts one in ten random numbers. */
const weakChecks: ReadonlySet<PersonalKind> = new Set(['card', 'national_id']);

/**
 * Samples names and shapes of properties of one resolver's events, and finds those that look personal. Values are
 * neither kept nor written. The number of events sampled per second is limited, for each account and for all together.
 */
export class PersonalData {
  readonly #accounts = new Map<string, Account>();
  readonly #seed = randomInt(2 ** 32);
  #properties = 0;
  #startedAtMs: number | undefined;
  #secondAtMs = 0;
  #taken = 0;
  skipped = 0;

  /** Whether an event may be sampled now; `bytes` is the size of its JSON. */
  takes(accountId: string, bytes: number, nowMs: number): boolean {
    if (bytes > jsonCharactersMax) return false;
    const secondAtMs = Math.floor(nowMs / 1_000);
    if (secondAtMs !== this.#secondAtMs) [this.#secondAtMs, this.#taken] = [secondAtMs, 0];
    if (this.#taken >= eventsPerSecond.all) return false;
    const account = this.#accountOf(accountId, nowMs);
    if (secondAtMs !== account.secondAtMs) [account.secondAtMs, account.taken] = [secondAtMs, 0];
    if (account.taken >= eventsPerSecond.account) return false;
    account.taken += 1;
    this.#taken += 1;
    return true;
  }

  sample(event: SampledEvent, nowMs: number): void {
    if (event.isTest) return;
    const account = this.#accountOf(event.accountId, nowMs);
    const name = text(event.name);
    let left: number = propertiesMax.event;
    const look = (root: string, of: string, value: unknown, isLookedAt: (name: string) => boolean): boolean =>
      eachValue(root, value, isLookedAt, (path, own, inner) => {
        left -= 1;
        if (left >= 0) this.#note(account, { event: of, path, own, value: inner }, event.receivedAtMs);
        return left > 0;
      });
    // The properties of an identify event belong to its visitor.
    if (name !== '$identify') look('event_properties', name, event.properties, () => true);
    look('default_properties', '*', event.context, (own) => !knownContext.has(own));
    for (const given of event.given) look('visitor.custom_properties', '*', given['custom_properties'], () => true);
  }

  /** Returns the findings that are new, or were seen again, since the last call. */
  take(): readonly PersonalFinding[] {
    const found: PersonalFinding[] = [];
    for (const [accountId, { properties }] of this.#accounts) {
      for (const property of properties.values()) {
        const finding = findingOf(property);
        if (finding === undefined || property.seen === property.written.seen) continue;
        const { seen, matched } = property.written;
        found.push({
          accountId,
          ...finding,
          seen: property.seen - seen,
          matched: Math.max(finding.matched - matched, 0),
        });
        property.written = { seen: property.seen, matched: finding.matched };
      }
    }
    return found;
  }

  #accountOf(accountId: string, nowMs: number): Account {
    // All properties are forgotten once a day, so that old names do not take the room of new ones.
    if (this.#startedAtMs === undefined || nowMs - this.#startedAtMs > dayMs) {
      this.#accounts.clear();
      this.#properties = 0;
      this.#startedAtMs = nowMs;
    }
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = { properties: new Map(), secondAtMs: 0, taken: 0 };
      this.#accounts.set(accountId, account);
    }
    return account;
  }

  #note({ properties }: Account, { event, path, own, value }: Noted, atMs: number): void {
    const key = `${event}\n${path}`;
    let property = properties.get(key);
    const { byName, byShape } = kindsOf(own, value, new Date(atMs).getUTCFullYear());
    if (property === undefined) {
      if (properties.size >= propertiesMax.account || this.#properties >= propertiesMax.all) {
        this.skipped += 1;
        return;
      }
      const [shapes, distinct] = [new Map<PersonalKind, number>(), new Set<number>()];
      const written = { seen: 0, matched: 0 };
      const times = { firstAtMs: atMs, lastAtMs: atMs };
      property = { event, property: path, byName, shapes, distinct, seen: 0, written, ...times, shape: '' };
      properties.set(key, property);
      this.#properties += 1;
    }
    property.seen += 1;
    property.lastAtMs = Math.max(property.lastAtMs, atMs);
    if (property.distinct.size < distinctMin) property.distinct.add(murmur3(String(value), this.#seed));
    if (byShape !== undefined) property.shapes.set(byShape, (property.shapes.get(byShape) ?? 0) + 1);
    if (property.shape === '' || byShape !== undefined) property.shape = maskValue(value);
  }
}

/** Samples a written event, if the limits allow. `json` is the event's part of the line. */
export function samplePersonalData(
  personalData: PersonalData,
  { accountId, given, receivedAtMs }: VisitorTouch,
  { bytes, start, end }: Stretch,
): void {
  const nowMs = Date.now();
  if (!personalData.takes(accountId, end - start, nowMs)) return;
  let event: unknown;
  try {
    event = JSON.parse(asBuffer(bytes).toString('utf8', start, end));
  } catch {
    // The event's JSON is a copy of what the client sent. If it cannot be parsed here, the event still continues.
  }
  if (!isJsonObject(event)) {
    personalData.skipped += 1;
    return;
  }
  const { event: name, event_properties: properties, context, test } = event;
  const own = { accountId, name: String(name), isTest: test === true, receivedAtMs };
  personalData.sample({ ...own, properties, context, given }, nowMs);
}

type Noted = { readonly event: string; readonly path: string; readonly own: string; readonly value: unknown };

function findingOf(property: Property): Omit<PersonalFinding, 'accountId'> | undefined {
  const { byName, shapes, seen, distinct, event, property: path, firstAtMs, lastAtMs, shape } = property;
  const [first] = [...shapes].toSorted(([, a], [, b]) => b - a);
  const common = { event, property: path, seen, firstAtMs, lastAtMs, shape };
  const [byShape, matched] = first ?? [undefined, 0];
  if (byShape !== undefined && matched >= seen * (weakChecks.has(byShape) ? 0.9 : 0.8)) {
    const isNamed = byShape === byName;
    if (isNamed ? matched >= namedMin : distinct.size >= distinctMin) {
      return { ...common, kind: byShape, basis: isNamed ? 'both' : 'shape', matched };
    }
  }
  if (byName === undefined || !byNameAlone.has(byName) || seen < namedMin) return undefined;
  return { ...common, kind: byName, basis: 'name', matched: seen };
}

/** Calls `look` with the path, the name and the value of each text and number; stops if `look` returns false. */
function eachValue(
  root: string,
  value: unknown,
  isLookedAt: (name: string) => boolean,
  look: (path: string, own: string, value: string | number) => boolean,
): boolean {
  const walk = (path: string, own: string, inner: unknown, depth: number): boolean => {
    if (typeof inner === 'string' || typeof inner === 'number') {
      return inner === '' || String(inner).length > charactersMax || look(text(path), own, inner);
    }
    if (depth >= depthMax) return true;
    if (Array.isArray(inner)) return inner.slice(0, itemsMax).every((item) => walk(path, own, item, depth + 1));
    if (!isJsonObject(inner)) return true;
    for (const name in inner) {
      // A name that is long, or that contains an e-mail address or a long number, is likely data itself.
      if (name.length > nameCharactersMax || /[@\0]|\d{6}/.test(name)) continue;
      if (depth === 0 && !isLookedAt(name)) continue;
      if (!walk(`${path}.${name}`, name, inner[name], depth + 1)) return false;
    }
    return true;
  };
  return isJsonObject(value) ? walk(root, '', value, 0) : true;
}

const text = (given: string): string => given.replaceAll('\0', '').slice(0, nameCharactersMax).toWellFormed();
