import type {
  AccountRows,
  ClearedIdentity,
  IdentityRow,
  KnownVisitors,
  MergeCause,
  VisitorMerge,
  VisitorWrite,
} from './visitor-rows.ts';
import { nothingLeftOut } from './visitor-store.ts';
import type { LeftOut, LeftOutReason, VisitorOutcome, VisitorTouch } from './visitor-store.ts';
import type { JsonObject } from '../runtime/json.ts';
import {
  afterServerGave,
  afterSignIn,
  contradict,
  followsSignIn,
  isServerSet,
  isSignedInByServer,
  keptFromPublic,
  setByPublicOnly,
  tiesAsServer,
} from './server-set.ts';
import { defaultIdentityLimits, exceedTogether, ranksEmailFirst } from './identity-limits.ts';
import { OwnedIdentities } from './owned-identities.ts';
import { isErased } from './is-erased.ts';
import { WorkingVisitors } from './working-visitors.ts';
import {
  becomeOne,
  causeOf,
  identifiersMax,
  identifiersOfVisitor,
  isKnown,
  mergeOf,
  root,
  serverSetOf,
  stateOf,
} from './working-visitor.ts';
import type { Working } from './working-visitor.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { identityKinds, storedIdentity, unstoredVisitorId } from './visitor-identity.ts';
import { VisitorProperties } from './visitor-properties.ts';

/** What a batch of events does to the visitors: the outcome of each event, and the rows to write. */
export type VisitorPlan = {
  readonly outcomes: readonly VisitorOutcome[];
  /** Visitors to insert, or to update when `stored` says from which state. */
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors that turned out to be another; what leads to them stays as it is, and leads on. */
  readonly merges: readonly VisitorMerge[];
  /** Identities to take from a visitor before others are inserted, since the property was cleared. */
  readonly cleared: readonly ClearedIdentity[];
  /** Accounts with anything to write. */
  readonly changed: ReadonlySet<string>;
};

/**
 * Decides, without touching anything, what the events do, in their order. Order of resolution: externalId, then userId, then
 * e-mail, each looked up or made, else a new visitor.
 *
 * A visitor with an externalId is a known person. An event with a userId and an externalId ties the device to that person:
 * a visitor without an externalId that the device had merges into the person (the older id stays), another known person
 * keeps all it has, and the device's events without an externalId belong to whom it was tied last. Two known people become
 * one by an alias only. An e-mail address already taken stays where it is. The account may rank e-mail addresses higher, and limit
 * how many identifiers of a kind a visitor has.
 *
 * What a server source has set of identifiers and contact data is not overwritten by an event of a public key, which
 * merges no known people either. An event of a test key reads visitors and changes none.
 */
export function planVisitors(
  touches: readonly VisitorTouch[],
  known: (accountId: string) => KnownVisitors,
  options: AccountBatchOptions,
): VisitorPlan {
  const batches = new Map<string, AccountBatch>();
  const outcomes = touches.map((touch) => {
    let batch = batches.get(touch.accountId);
    if (batch === undefined) {
      batch = new AccountBatch(touch.accountId, known(touch.accountId), options);
      batches.set(touch.accountId, batch);
    }
    return batch.touch(touch);
  });
  const plans = [...batches.values()].map((batch) => batch.rows());
  return {
    outcomes,
    writes: plans.flatMap((plan) => plan.writes),
    newIdentities: plans.flatMap((plan) => plan.newIdentities),
    merges: plans.flatMap((plan) => plan.merges),
    cleared: plans.flatMap((plan) => plan.cleared),
    changed: new Set(plans.filter(changesAnything).map(({ accountId }) => accountId)),
  };
}

function changesAnything({ writes, newIdentities, merges, cleared }: AccountRows): boolean {
  return writes.length + newIdentities.length + merges.length + cleared.length > 0;
}

type AccountBatchOptions = {
  /** What the properties of a visitor may weigh as JSON text, in bytes. */
  readonly propertiesBytesMax: number;
  /** How many identifiers may lead to a visitor: externalIds, e-mail addresses and merged ids. Default `identifiersMax`. */
  readonly identifiersMax?: number;
  readonly newVisitorId: () => string;
};

/** The visitors of one account while events are applied to them, one after the other, in memory. */
class AccountBatch {
  readonly #accountId: string;
  readonly #known: KnownVisitors;
  readonly #options: AccountBatchOptions;
  readonly #visitors: WorkingVisitors;
  readonly #identities: OwnedIdentities;
  readonly #losers: Working[] = [];
  readonly #merges: VisitorMerge[] = [];
  /** Why the current event merges. */
  #cause: MergeCause = { kind: 'signIn' };
  /** Of the account, by the event at hand. */
  #limits = defaultIdentityLimits;
  /** When the event at hand says what it says. */
  #saidAtMs = 0;
  /** The changes that the current event asked for and did not get. */
  #leftOut: Record<LeftOutReason, number> | undefined;

  constructor(accountId: string, known: KnownVisitors, options: AccountBatchOptions) {
    this.#accountId = accountId;
    this.#known = known;
    this.#options = options;
    this.#visitors = new WorkingVisitors(known);
    this.#identities = new OwnedIdentities(known, this.#visitors);
  }

  touch(touch: VisitorTouch): VisitorOutcome {
    const { claim, given, receivedAtMs, sentWith, event } = touch;
    this.#limits = touch.limits ?? defaultIdentityLimits;
    this.#saidAtMs = Math.floor(touch.saidAtMs ?? receivedAtMs);
    if (isErased(claim, receivedAtMs, this.#known)) return { kind: 'erased' };
    const byEmail = this.#byEmail(claim, tiesAsServer(sentWith, claim));
    // What a server signed is not what decides then.
    const trust = byEmail !== undefined && sentWith === 'signed' ? 'public' : sentWith;
    const mayTie = tiesAsServer(trust, claim);
    const found = byEmail ?? this.#find(claim, mayTie);
    if (found?.stored?.isUnreadable === true) return unreadable;
    if (sentWith === 'test') return this.#view(found, claim, given);
    this.#cause = causeOf(claim, event);
    const visitor =
      byEmail === undefined ? this.#identify(claim, found, mayTie) : this.#followEmail(byEmail, claim, mayTie);
    const isServer = trust !== 'public';
    visitor.isSeen = true;
    for (const value of claim.emails) this.#tieEmail(visitor, value, isServer);
    for (const layer of given) this.#apply(visitor, layer, isServer);
    const { id, properties } = visitor;
    return {
      kind: 'resolved',
      id,
      properties,
      created: found === undefined,
      ...this.#takeLeftOut(),
    };
  }

  /** What the events did so far, as rows to write. */
  rows(): AccountRows {
    const accountId = this.#accountId;
    const writes: VisitorWrite[] = [];
    for (const visitor of this.#visitors.all()) {
      const { id, stored, properties, mergedInto, signedInAs, setByServer, apart } = visitor;
      if (!visitor.changed) continue;
      writes.push({
        accountId,
        id,
        stored,
        properties,
        // The visitor it was merged into, which may be an alias itself: a split has to find what was under a visitor.
        mergedInto: stored?.mergedInto ?? mergedInto?.id,
        signedInAs,
        setByServer,
        apart,
        externalIds: visitor.externalIds,
        emails: visitor.emails,
        aliases: visitor.aliases,
      });
    }
    return { accountId, writes, merges: this.#merges, ...this.#identities.rows(accountId) };
  }

  /** The visitor that the event is of as the visitors are now; its device's where its person is not known. */
  #find({ userId, externalIds, emails, anonymousId }: VisitorClaim, isServer: boolean): Working | undefined {
    const device = this.#ofDevice(userId, isServer);
    const person = this.#identities.ownerOf('external_id', externalIds);
    if (person !== undefined) return person;
    if (userId !== undefined) return device;
    if (anonymousId !== undefined) return this.#visitors.visitor(anonymousId);
    // An e-mail address is looked up only where there is no externalId.
    return externalIds.length > 0 ? undefined : this.#identities.ownerOf('email', emails);
  }

  /** Whom the e-mail address of an event leads to, where it decides over identifiers that do not lead there. */
  #byEmail(claim: VisitorClaim, isServer: boolean): Working | undefined {
    if (!ranksEmailFirst(this.#limits, claim)) return undefined;
    const { userId, externalIds, emails } = claim;
    const owner = this.#identities.ownerOf('email', emails);
    const isPerson = externalIds.length > 0;
    const other = isPerson ? this.#identities.ownerOf('external_id', externalIds) : this.#ofDevice(userId, isServer);
    return owner === other ? undefined : owner;
  }

  /**
   * Makes an event that of the visitor of its e-mail address. The address merges no visitors: the device is signed in, and an
   * externalId without an owner is added. Not by a public key: the owner of the externalId could then change the visitor.
   */
  #followEmail(visitor: Working, { userId, externalIds }: VisitorClaim, isServer: boolean): Working {
    for (const externalId of externalIds) {
      const owner = this.#identities.owner('external_id', storedIdentity(externalId));
      if (owner === visitor) continue;
      const isFree = owner === undefined && isServer && (!isKnown(visitor) || this.#mayHaveAnother(visitor, true));
      if (isFree) this.#tieExternalId(visitor, externalId);
      else this.#leaveOut('keptApart');
    }
    if (userId === undefined || this.#ofDevice(userId, isServer) === visitor) return visitor;
    if (this.#visitors.row(userId) === undefined) this.#visitors.create(userId);
    this.#tieDevice(userId, visitor, isServer);
    return visitor;
  }

  /** The visitor that the event is of, with the ties and merges that follow from its identifiers. */
  #identify(claim: VisitorClaim, found: Working | undefined, isServer: boolean): Working {
    const { userId, externalIds, anonymousId, isAlias } = claim;
    const [externalId, newId] = externalIds;
    if (externalId === undefined)
      return found ?? this.#visitors.create(userId ?? anonymousId ?? this.#options.newVisitorId());
    if (isAlias === true && newId !== undefined)
      return this.#alias(userId, { previousId: externalId, newId }, isServer);
    const person = this.#signIn(userId, externalId, isServer);
    if (newId !== undefined) this.#addExternalId(person, newId, isServer);
    return person;
  }

  /** The person of an externalId, to whom the device is tied. */
  #signIn(userId: string | undefined, externalId: string, isServer: boolean): Working {
    const device = this.#ofDevice(userId, isServer);
    const person = this.#identities.owner('external_id', storedIdentity(externalId));
    if (person === undefined) {
      if (device === undefined) return this.#createPerson(userId, externalId);
      if (isKnown(device) && !this.#mayHaveAnother(device, isServer)) this.#leaveOut('keptApart');
      else if (this.#tieExternalId(device, externalId)) return device;
      const made = this.#createPerson(undefined, externalId);
      this.#tieDevice(userId, made, isServer);
      return made;
    }
    if (userId === undefined || device === person) return person;
    const one = this.#join(device ?? this.#visitors.create(userId), person, { isServer, isAlias: false });
    if (one === undefined) this.#tieDevice(userId, person, isServer);
    return one ?? person;
  }

  /** A second externalId of an event that is not said to be an alias. */
  #addExternalId(person: Working, externalId: string, isServer: boolean): void {
    const owner = this.#identities.owner('external_id', storedIdentity(externalId));
    if (owner === person) return;
    if (owner === undefined && this.#mayHaveAnother(person, isServer)) this.#tieExternalId(person, externalId);
    else this.#leaveOut('keptApart');
  }

  /** Whether the account allows a known person another externalId; a public key adds none to one that a server named. */
  #mayHaveAnother({ externalIds, setByServer }: Working, isServer: boolean): boolean {
    return externalIds < this.#limits.externalIdsMax && (isServer || !isServerSet(setByServer, 'external_id'));
  }

  /**
   * Two ids of one person. The previous one may be a device's, a visitor's own or a person's: who it leads to becomes one
   * with whom the new one leads to. A public key merges no two known people, and gives no further id to one that a server named.
   */
  #alias(userId: string | undefined, { previousId, newId }: Alias, isServer: boolean): Working {
    const previous = this.#identities.owner('external_id', storedIdentity(previousId));
    const device = this.#ofDevice(userId, isServer);
    const rights = { isServer, isAlias: true };
    const mayAdd = ({ setByServer }: Working): boolean => isServer || !isServerSet(setByServer, 'external_id');
    const both = previous !== undefined && device !== undefined && previous !== device;
    const one = both ? (this.#join(device, previous, rights) ?? previous) : (previous ?? device);
    if (one === undefined) {
      const made = this.#signIn(userId, newId, isServer);
      if (previous === undefined && mayAdd(made)) this.#tieExternalId(made, previousId);
      return made;
    }
    const known = this.#identities.owner('external_id', storedIdentity(newId));
    if (known === one) return one;
    const isTied = known === undefined && mayAdd(one) && this.#tieExternalId(one, newId);
    const person = known ?? (isTied ? one : this.#createPerson(undefined, newId));
    const merged = isTied ? one : this.#join(one, person, rights);
    if (merged === undefined) {
      this.#tieDevice(userId, person, isServer);
      return person;
    }
    if (previous === undefined && mayAdd(merged)) this.#tieExternalId(merged, previousId);
    if (device !== undefined || userId === undefined) return merged;
    const joined = this.#merge(this.#visitors.create(userId), merged);
    if (joined === undefined) this.#tieDevice(userId, merged, isServer);
    return joined ?? merged;
  }

  /** Makes the visitor of an externalId without an owner. */
  #createPerson(userId: string | undefined, externalId: string): Working {
    const made = this.#visitors.create(userId ?? this.#options.newVisitorId());
    this.#tieExternalId(made, externalId);
    return made;
  }

  /** Makes one visitor of another and a person that has an externalId; undefined where they have to stay two. */
  #join(other: Working, person: Working, { isServer, isAlias }: Rights): Working | undefined {
    if (other.stored?.isUnreadable === true || person.stored?.isUnreadable === true) return undefined;
    const arePeople = isKnown(other);
    const isUndone = !isAlias && other.apart.some((mergeId) => person.apart.includes(mergeId));
    const isFree = isServer || !contradict(serverSetOf(other), serverSetOf(person));
    if (!isUndone && (arePeople ? isAlias && isServer : isFree)) return this.#merge(other, person);
    this.#leaveOut('keptApart');
    return undefined;
  }

  /** Events with this userId alone are the person's from now on. */
  #tieDevice(userId: string | undefined, person: Working, isServer: boolean): void {
    const row = userId === undefined ? undefined : this.#visitors.row(userId);
    if (row === undefined) return;
    const isSame = (this.#signedIn(row) ?? root(row)) === person;
    if (!isServer && isSignedInByServer(row.setByServer)) {
      if (!isSame) this.#leaveOut('notOverwritten');
      return;
    }
    const signedInAs = root(row) === person ? undefined : person.id;
    const setByServer = afterSignIn(row.setByServer, isServer && signedInAs !== undefined);
    if (isSame && setByServer === row.setByServer) return;
    row.signedInAs = signedInAs;
    row.setByServer = setByServer;
    row.changed = true;
  }

  /** What an event of a test key sees: the visitor as it would be, of which nothing is kept. */
  #view(found: Working | undefined, claim: VisitorClaim, given: readonly JsonObject[]): VisitorOutcome {
    let properties = found?.properties ?? VisitorProperties.none;
    for (const layer of given) {
      const next = properties.with(layer, this.#saidAtMs);
      if (!this.#isTooLarge(next)) properties = next;
    }
    return { kind: 'resolved', id: found?.id ?? unstoredVisitorId(this.#accountId, claim), properties, created: false };
  }

  /** The visitor that events with this userId alone belong to. */
  #ofDevice(userId: string | undefined, isServer: boolean): Working | undefined {
    const row = userId === undefined ? undefined : this.#visitors.row(userId);
    if (row === undefined) return undefined;
    const own = root(row);
    return (followsSignIn(isServer, row.setByServer, own.setByServer) ? this.#signedIn(row) : undefined) ?? own;
  }

  /** Who is signed in on the device of a row, where that is not the row's own visitor. */
  #signedIn({ signedInAs }: Working): Working | undefined {
    return signedInAs === undefined ? undefined : this.#visitors.visitor(signedInAs);
  }

  /** Ties an externalId without an owner to a visitor, whose property then marks a known person. False without room. */
  #tieExternalId(visitor: Working, externalId: string): boolean {
    if (this.#isFull(visitor)) return false;
    if (!isKnown(visitor)) {
      const next = visitor.properties.with({ external_id: externalId }, this.#saidAtMs, tiedName);
      if (this.#isTooLarge(next)) {
        this.#leaveOut('oversized');
        return false;
      }
      this.#visitors.change(visitor, next);
    }
    this.#identities.tie('external_id', storedIdentity(externalId), visitor);
    return true;
  }

  /** Ties an e-mail address without an owner to a visitor, unless a server set the visitor's own address. */
  #tieEmail(visitor: Working, email: string, isServer: boolean): void {
    const value = storedIdentity(email);
    if (this.#identities.owner('email', value) !== undefined) return;
    if (!isServer && keptFromPublic(visitor.setByServer, visitor.properties.value, { email }).length > 0) return;
    if (this.#isFull(visitor)) return;
    if (visitor.emails >= this.#limits.emailsMax) this.#leaveOut('overLimit');
    else this.#identities.tie('email', value, visitor);
  }

  /** Whether so many identifiers lead to a visitor that none is added, nor to the two that are to become one. */
  #isFull(visitor: Working, other?: Working): boolean {
    const more = other === undefined ? 0 : identifiersOfVisitor(other);
    const isFull = identifiersOfVisitor(visitor) + more >= (this.#options.identifiersMax ?? identifiersMax);
    if (isFull) this.#leaveOut('full');
    return isFull;
  }

  /** Makes one visitor of two; undefined, and they stay two, where the one would be larger than it may be. */
  #merge(a: Working, b: Working): Working | undefined {
    if (this.#isFull(a, b)) return undefined;
    // Who says that two are one is not limited.
    if (this.#cause.kind === 'signIn' && exceedTogether(this.#limits, a, b)) {
      this.#leaveOut('overLimit');
      return undefined;
    }
    const { survivor, loser, properties } = mergeOf(a, b);
    if (this.#isTooLarge(properties)) {
      this.#leaveOut('oversized');
      return undefined;
    }
    this.#record(survivor, loser, properties);
    this.#visitors.change(survivor, properties);
    becomeOne(survivor, loser);
    this.#losers.push(loser);
    return survivor;
  }

  #record(survivor: Working, loser: Working, mergedProperties: VisitorProperties): void {
    const loserIdentities = this.#identities.newOf(loser);
    this.#merges.push({
      accountId: this.#accountId,
      from: loser.id,
      into: survivor.id,
      record: loser.isSeen
        ? { cause: this.#cause, survivor: stateOf(survivor), loser: stateOf(loser), loserIdentities, mergedProperties }
        : undefined,
    });
  }

  #isTooLarge(properties: VisitorProperties): boolean {
    return properties.bytes > this.#options.propertiesBytesMax;
  }

  #apply(visitor: Working, layer: JsonObject, isServer: boolean): void {
    const own = this.#withoutForeignId(visitor, layer);
    const given = isServer ? own : this.#withoutProtected(visitor, own);
    const before = visitor.properties;
    const next = before.with(
      given,
      this.#saidAtMs,
      isServer ? setByPublicOnly(visitor.setByServer, before.value) : undefined,
    );
    if (this.#isTooLarge(next) && next.bytes > before.bytes) {
      this.#leaveOut('oversized');
      return;
    }
    if (next !== before) {
      for (const kind of identityKinds) {
        if (given[kind] === null && Object.hasOwn(before.value, kind) && !Object.hasOwn(next.value, kind))
          this.#identities.release(kind, visitor, this.#losers);
      }
      this.#visitors.change(visitor, next);
    }
    if (!isServer) return;
    const setByServer = afterServerGave(visitor.setByServer, given, next.value);
    if (setByServer === visitor.setByServer) return;
    visitor.setByServer = setByServer;
    visitor.changed = true;
  }

  /** What an event gives, without an externalId that is not the visitor's: who has one as a property is a known person. */
  #withoutForeignId(visitor: Working, given: JsonObject): JsonObject {
    const { external_id: id, ...others } = given;
    if (typeof id !== 'string' || id === '') return given;
    return this.#identities.owner('external_id', storedIdentity(id)) === visitor ? given : others;
  }

  /** What a public key gives, without what a server has set to something else. */
  #withoutProtected(visitor: Working, given: JsonObject): JsonObject {
    const kept = keptFromPublic(visitor.setByServer, visitor.properties.value, given);
    if (kept.length === 0) return given;
    this.#leaveOut('notOverwritten', kept.length);
    return Object.fromEntries(Object.entries(given).filter(([name]) => !kept.some((one) => one === name)));
  }

  #takeLeftOut(): { readonly leftOut?: LeftOut } {
    const leftOut = this.#leftOut;
    this.#leftOut = undefined;
    return leftOut === undefined ? {} : { leftOut };
  }

  #leaveOut(reason: LeftOutReason, times = 1): void {
    this.#leftOut ??= { ...nothingLeftOut };
    this.#leftOut[reason] += times;
  }
}

/** An identifier that is tied is a visitor's, whatever was cleared when. */
const tiedName: ReadonlySet<string> = new Set(['external_id']);

const unreadable = { kind: 'refused', reason: 'its visitor is too large to be read' } as const;

/** What an event may do with two visitors. */
type Rights = { readonly isServer: boolean; readonly isAlias: boolean };

type Alias = { readonly previousId: string; readonly newId: string };
