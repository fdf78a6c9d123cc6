import { isServerSet, mergedBits, ruledByServer } from './server-set.ts';
import type { ProtectedProperty } from './server-set.ts';
import { timeKey } from './property-times.ts';
import { VisitorProperties } from './visitor-properties.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { MergeCause, MergedState, StoredVisitor } from './visitor-rows.ts';
import type { VisitorTouch } from './visitor-store.ts';

/** A visitor while the batch is processed. */
export type Working = {
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  properties: VisitorProperties;
  mergedInto: Working | undefined;
  /** See `StoredVisitor`. */
  signedInAs: string | undefined;
  setByServer: number;
  /** See `StoredVisitor`. */
  apart: readonly string[];
  /** See `StoredVisitor`. */
  externalIds: number;
  emails: number;
  aliases: number;
  /** Whether the visitor is stored, or an earlier event of the batch belongs to it. */
  isSeen: boolean;
  changed: boolean;
  /** Orders visitors by their last write: stored rows come before rows that this batch wrote. */
  writtenAt: number;
};

/** A visitor from its row. */
export function workingOf(stored: StoredVisitor, mergedInto: Working | undefined): Working {
  const { id, properties, signedInAs, setByServer, apart, externalIds, emails, aliases } = stored;
  return {
    id,
    stored,
    properties,
    mergedInto,
    signedInAs,
    setByServer,
    apart,
    externalIds: externalIds === 0 && isKnown(stored) ? 1 : externalIds,
    emails,
    aliases,
    isSeen: true,
    changed: false,
    writtenAt: stored.updatedAtUs - Number.MAX_SAFE_INTEGER,
  };
}

/**
 * The merge of two visitors: the older one survives, with the properties of both; values that were written later win.
 */
export function mergeOf(a: Working, b: Working) {
  const [survivor, loser] = isOlder(a, b) ? [a, b] : [b, a];
  const [earlier, later] = a.writtenAt < b.writtenAt ? [a, b] : [b, a];
  const joined = earlier.properties.mergedWith(later.properties);
  return { survivor, loser, properties: withServerSet(joined, earlier, later) };
}

/** Adds the values that a server set for only one of two visitors, with their times. */
function withServerSet(joined: VisitorProperties, a: Working, b: Working): VisitorProperties {
  const ruled = Object.entries(ruledByServer(serverSetOf(a), serverSetOf(b)));
  return ruled.reduce((properties, [name, value]) => {
    const from = isServerSet(a.setByServer, name as ProtectedProperty) ? a : b;
    return properties.with({ [name]: value }, from.properties.times.get(timeKey(name)), new Set([name]));
  }, joined);
}

/** Makes the loser an alias; the survivor has the properties already. */
export function becomeOne(survivor: Working, loser: Working): void {
  survivor.apart = apartAfterMerge(survivor.apart, loser.apart);
  const bits = mergedBits(survivor.setByServer, loser.setByServer);
  survivor.externalIds += loser.externalIds;
  survivor.emails += loser.emails;
  survivor.aliases += loser.aliases + 1;
  survivor.setByServer = bits.survivor;
  loser.setByServer = bits.loser;
  loser.properties = VisitorProperties.none;
  loser.mergedInto = survivor;
  loser.changed = true;
}

/** A known person: a visitor with an externalId. */
export const isKnown = ({ properties }: Pick<Working, 'properties'>): boolean =>
  typeof properties.value['external_id'] === 'string';

/** See `StoredVisitor`. */
export const isUnreadable = ({ stored }: Working): boolean => stored?.isUnreadable === true;

/** Maximum number of a visitor's identifiers; no more are added. Pages that show a visitor read up to this number. */
export const identifiersMax = 1_000;

/** The number of a visitor's identifiers, without its id. */
export const identifiersOfVisitor = ({ externalIds, emails, aliases }: Working): number =>
  externalIds + emails + aliases;

export const serverSetOf = ({ setByServer, properties }: Working) => ({ bits: setByServer, value: properties.value });

export function root(visitor: Working): Working {
  let found = visitor;
  while (found.mergedInto !== undefined) found = found.mergedInto;
  return found;
}

// Stored rows count as older than new ones; of two rows with the same time, the one with the smaller id counts as
// older.
function isOlder(a: Working, b: Working): boolean {
  const aUs = a.stored?.createdAtUs ?? Number.MAX_SAFE_INTEGER;
  const bUs = b.stored?.createdAtUs ?? Number.MAX_SAFE_INTEGER;
  return aUs === bUs ? a.id < b.id : aUs < bUs;
}

export function stateOf({ stored, properties, setByServer, apart }: Working): MergedState {
  return { properties: properties === stored?.properties ? undefined : properties, setByServer, apart };
}

export function causeOf({ isAlias, externalIds }: VisitorClaim, event: VisitorTouch['event']): MergeCause {
  return {
    kind: isAlias === true && externalIds.length > 1 ? 'alias' : 'signIn',
    identifier: 'externalId',
    ...(event && { eventId: event.id, sourceId: event.sourceId }),
  };
}

/** Maximum number of undone merges that a visitor's row names; the oldest are removed. */
const apartMax = 100;

/** A new merge of two visitors ends the effect of their undone merges. */
function apartAfterMerge(survivor: readonly string[], loser: readonly string[]): readonly string[] {
  if (loser.length === 0) return survivor;
  const both = [...survivor, ...loser];
  return both
    .filter((id) => !(survivor.includes(id) && loser.includes(id)))
    .toSorted()
    .slice(-apartMax);
}
