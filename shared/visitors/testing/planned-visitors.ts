import type { JsonObject } from '../../runtime/json.ts';
import { planVisitors } from '../plan-visitors.ts';
import type { VisitorPlan } from '../plan-visitors.ts';
import type { AccountVisitorsOptions } from '../account-visitors.ts';
import type { Erasure, KnownVisitors, StoredVisitor } from '../visitor-rows.ts';
import type { IdentityKind, VisitorClaim } from '../visitor-identity.ts';
import { VisitorProperties } from '../visitor-properties.ts';
import type { KeyTrust, VisitorTouch } from '../visitor-store.ts';

export const accountId = 'account';

/** The same event with another key. */
export const sentWith = (trust: KeyTrust, event: VisitorTouch): VisitorTouch => ({ ...event, sentWith: trust });

/** An event of a server's key. The visitor's externalId is a property too, as in real events. */
export function person(externalId: string, claim: Partial<VisitorClaim> = {}, given: JsonObject = {}): VisitorTouch {
  return touch({ externalIds: [externalId], ...claim }, { external_id: externalId, ...given });
}

export function alias(previousId: string, newId: string): VisitorTouch {
  return touch({ userId: previousId, externalIds: [previousId, newId], isAlias: true }, { external_id: newId });
}

export function touch(claim: Partial<VisitorClaim>, ...given: VisitorTouch['given']): VisitorTouch {
  return {
    accountId,
    claim: { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim },
    receivedAtMs: 1_000,
    given,
    sentWith: 'server',
  };
}

type Stored = Partial<Omit<StoredVisitor, 'properties'>> & { readonly properties?: JsonObject };

export function stored(id: string, { properties = {}, ...more }: Stored = {}): StoredVisitor {
  const row = { accountId, id, version: 3, createdAtUs: 1_000, updatedAtUs: 1_000, mergedInto: undefined };
  return {
    ...row,
    signedInAs: undefined,
    setByServer: 0,
    apart: [],
    externalIds: 0,
    emails: 0,
    aliases: 0,
    ...more,
    properties: new VisitorProperties(properties),
  };
}

export function known(
  visitors: readonly StoredVisitor[] = [],
  identities: readonly [IdentityKind, string, string][] = [],
  erasures: Readonly<Record<string, Erasure>> = {},
): KnownVisitors {
  const owners = new Map(identities.map(([kind, value, id]) => [`${kind} ${value}`, id]));
  return {
    visitor: (id) => visitors.find((row) => row.id === id),
    identity: (kind, value) => owners.get(`${kind} ${value}`),
    erasure: ({ kind, value }) => erasures[`${kind} ${value}`],
  };
}

export function plan(
  touches: readonly VisitorTouch[],
  from: KnownVisitors = known(),
  propertiesBytesMax = 10_000,
  own: Partial<AccountVisitorsOptions> = {},
): VisitorPlan {
  let made = 0;
  const newVisitorId = (): string => `new-${(made += 1)}`;
  return planVisitors(touches, (id) => (id === accountId ? from : known()), {
    propertiesBytesMax,
    newVisitorId,
    ...own,
  });
}

/** Outcomes and writes with their properties as plain objects. */
export const valueOf = <Row extends { readonly properties?: VisitorProperties }>(row: Row) => ({
  ...row,
  properties: row.properties?.value,
});

export const ids = ({ outcomes }: VisitorPlan): string[] =>
  outcomes.map((outcome) => (outcome.kind === 'resolved' ? outcome.id : outcome.kind));
export const propertiesOf = ({ outcomes }: VisitorPlan): JsonObject[] =>
  outcomes.map((outcome) => (outcome.kind === 'resolved' ? outcome.properties.value : {}));
export const identitiesOf = ({ newIdentities }: VisitorPlan): string[] =>
  newIdentities.map(({ kind, value, visitorId }) => `${kind} ${value} ${visitorId}`);
