import { exceedTogether } from './identity-limits.ts';
import { OwnedIdentities } from './owned-identities.ts';
import type { PlannedEvent } from './planned-event.ts';
import {
  afterSignIn,
  contradict,
  followsSignIn,
  isServerSet,
  isSignedInByServer,
  keptFromPublic,
} from './server-set.ts';
import { storedIdentity } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';
import type { AccountRows, KnownVisitors, VisitorMerge, VisitorWrite } from './visitor-rows.ts';
import {
  becomeOne,
  identifiersMax,
  identifiersOfVisitor,
  isKnown,
  isUnreadable,
  mergeOf,
  root,
  serverSetOf,
  stateOf,
} from './working-visitor.ts';
import type { Working } from './working-visitor.ts';
import { WorkingVisitors } from './working-visitors.ts';

export type AccountVisitorsOptions = {
  /** Size limit of a visitor's properties as JSON text, in bytes. */
  readonly propertiesBytesMax: number;
  /**
   * Maximum number of identifiers of one visitor: externalIds, e-mail addresses and merged ids. Default
   * `identifiersMax`.
   */
  readonly identifiersMax?: number;
  readonly newVisitorId: () => string;
};

/** The visitors of one account in memory, with the ties and merges that an event may request, and their limits. */
export class AccountVisitors {
  readonly accountId: string;
  readonly known: KnownVisitors;
  readonly visitors: WorkingVisitors;
  readonly identities: OwnedIdentities;
  readonly #options: AccountVisitorsOptions;
  readonly #losers: Working[] = [];
  readonly #merges: VisitorMerge[] = [];

  constructor(accountId: string, known: KnownVisitors, options: AccountVisitorsOptions) {
    this.accountId = accountId;
    this.known = known;
    this.#options = options;
    this.visitors = new WorkingVisitors(known);
    this.identities = new OwnedIdentities(known, this.visitors);
  }

  /** The changes so far, as rows to write. */
  rows(): AccountRows {
    const { accountId } = this;
    const writes: VisitorWrite[] = [];
    for (const visitor of this.visitors.all()) {
      const { id, stored, properties, mergedInto, signedInAs, setByServer, apart } = visitor;
      if (!visitor.changed) continue;
      writes.push({
        accountId,
        id,
        stored,
        properties,
        // The visitor that this one was merged into, even if that is an alias by now: a split must find a visitor's
        // aliases.
        mergedInto: stored?.mergedInto ?? mergedInto?.id,
        signedInAs,
        setByServer,
        apart,
        externalIds: visitor.externalIds,
        emails: visitor.emails,
        aliases: visitor.aliases,
      });
    }
    return { accountId, writes, merges: this.#merges, ...this.identities.rows(accountId) };
  }

  create(id: string | undefined): Working {
    return this.visitors.create(id ?? this.#options.newVisitorId());
  }

  /** The visitor that events with this userId alone belong to. */
  ofDevice(userId: string | undefined, asServer: boolean): Working | undefined {
    const row = userId === undefined ? undefined : this.visitors.row(userId);
    if (row === undefined) return undefined;
    const own = root(row);
    return (followsSignIn(asServer, row.setByServer, own.setByServer) ? this.#signedIn(row) : undefined) ?? own;
  }

  /** The visitor signed in on the device of a row, if it is not the row's own visitor. */
  #signedIn({ signedInAs }: Working): Working | undefined {
    return signedInAs === undefined ? undefined : this.visitors.visitor(signedInAs);
  }

  /** Makes later events that have only this userId belong to the person. */
  tieDevice(event: PlannedEvent, userId: string | undefined, person: Working): void {
    const row = userId === undefined ? undefined : this.visitors.row(userId);
    if (row === undefined || isUnreadable(row) || isUnreadable(person)) return;
    const isSame = (this.#signedIn(row) ?? root(row)) === person;
    if (!event.tiesAsServer && isSignedInByServer(row.setByServer)) {
      if (!isSame) event.leaveOut('notOverwritten');
      return;
    }
    const signedInAs = root(row) === person ? undefined : person.id;
    const setByServer = afterSignIn(row.setByServer, event.tiesAsServer && signedInAs !== undefined);
    if (isSame && setByServer === row.setByServer) return;
    row.signedInAs = signedInAs;
    row.setByServer = setByServer;
    row.changed = true;
  }

  /**
   * Whether a known person may get another externalId. A public key adds no externalId to a person who has one that a
   * server set.
   */
  mayHaveAnother({ limits, tiesAsServer }: PlannedEvent, { externalIds, setByServer }: Working): boolean {
    return externalIds < limits.externalIdsMax && (tiesAsServer || !isServerSet(setByServer, 'external_id'));
  }

  /**
   * Ties an externalId without an owner to a visitor, which becomes a known person. False if the visitor has no room or
   * cannot be read.
   */
  tieExternalId(event: PlannedEvent, visitor: Working, externalId: string): boolean {
    if (isUnreadable(visitor)) return false;
    if (this.#isFull(event, visitor)) return false;
    if (!isKnown(visitor)) {
      const next = visitor.properties.with({ external_id: externalId }, event.saidAtMs, tiedName);
      if (this.isTooLarge(next)) {
        event.leaveOut('oversized');
        return false;
      }
      this.visitors.change(visitor, next);
    }
    this.identities.tie('external_id', storedIdentity(externalId), visitor);
    return true;
  }

  /** Ties an e-mail address without an owner to a visitor, unless a server set the visitor's own address. */
  tieEmail(event: PlannedEvent, visitor: Working, email: string): void {
    const value = storedIdentity(email);
    if (this.identities.owner('email', value) !== undefined) return;
    if (!event.givesAsServer && keptFromPublic(visitor.setByServer, visitor.properties.value, { email }).length > 0)
      return;
    if (this.#isFull(event, visitor)) return;
    if (visitor.emails >= event.limits.emailsMax) event.leaveOut('overLimit');
    else this.identities.tie('email', value, visitor);
  }

  /** Removes the identities of one kind from a visitor, and from the visitors that this batch merged into it. */
  release(kind: 'external_id' | 'email', visitor: Working): void {
    this.identities.release(kind, visitor, this.#losers);
  }

  /** Ids of merged visitors, now aliases of this visitor, to which the claim's identifiers were tied. */
  mergedIdsIn(claim: VisitorClaim, visitor: Working): readonly string[] {
    if (visitor.aliases === 0) return [];
    const { userId, anonymousId, externalIds, emails, isAlias } = claim;
    // An alias may join a device by its new id.
    const ids = [userId, anonymousId, isAlias === true ? externalIds[1] : undefined];
    const tied = [
      ...ids.map((id) => (id === undefined ? undefined : this.visitors.row(id))),
      ...externalIds.map((value) => this.identities.tiedTo('external_id', storedIdentity(value))),
      ...emails.map((value) => this.identities.tiedTo('email', storedIdentity(value))),
    ];
    return tied.flatMap((row) => (row === undefined || row === visitor || root(row) !== visitor ? [] : [row.id]));
  }

  /** Merges another visitor with a person that has an externalId; undefined if they must stay separate. */
  join(event: PlannedEvent, other: Working, person: Working, isAlias: boolean): Working | undefined {
    if (isUnreadable(other) || isUnreadable(person)) return undefined;
    const isUndone = !isAlias && other.apart.some((mergeId) => person.apart.includes(mergeId));
    const mayMerge = isKnown(other)
      ? isAlias && event.tiesAsServer
      : event.tiesAsServer || !contradict(serverSetOf(other), serverSetOf(person));
    if (!isUndone && mayMerge) return this.merge(event, other, person);
    event.leaveOut('keptApart');
    return undefined;
  }

  /** Merges two visitors. Returns undefined and keeps them separate if the merged visitor would exceed a limit. */
  merge(event: PlannedEvent, a: Working, b: Working): Working | undefined {
    if (this.#isFull(event, a, b)) return undefined;
    const { cause } = event;
    // An explicit alias is not limited.
    if (cause.kind === 'signIn' && exceedTogether(event.limits, a, b)) {
      event.leaveOut('overLimit');
      return undefined;
    }
    const { survivor, loser, properties } = mergeOf(a, b);
    if (this.isTooLarge(properties)) {
      event.leaveOut('oversized');
      return undefined;
    }
    this.#record(cause, survivor, loser, properties);
    this.visitors.change(survivor, properties);
    becomeOne(survivor, loser);
    this.#losers.push(loser);
    return survivor;
  }

  #record(cause: PlannedEvent['cause'], survivor: Working, loser: Working, mergedProperties: VisitorProperties): void {
    const loserIdentities = this.identities.newOf(loser);
    this.#merges.push({
      accountId: this.accountId,
      from: loser.id,
      into: survivor.id,
      record: loser.isSeen
        ? { cause, survivor: stateOf(survivor), loser: stateOf(loser), loserIdentities, mergedProperties }
        : undefined,
    });
  }

  /**
   * Whether a visitor, or two visitors that would be merged, have so many identifiers that no further one is allowed.
   */
  #isFull(event: PlannedEvent, visitor: Working, other?: Working): boolean {
    const more = other === undefined ? 0 : identifiersOfVisitor(other);
    const isFull = identifiersOfVisitor(visitor) + more >= (this.#options.identifiersMax ?? identifiersMax);
    if (isFull) event.leaveOut('full');
    return isFull;
  }

  isTooLarge(properties: VisitorProperties): boolean {
    return properties.bytes > this.#options.propertiesBytesMax;
  }
}

/** The property of a tied identifier is set whatever its times are. */
const tiedName: ReadonlySet<string> = new Set(['external_id']);
