import { cleanEmail, cleanText } from './visitor-identity.ts';
import type { Identifier, IdentityKind } from './visitor-identity.ts';
import type { Queryable } from './visitor-statements.ts';

/** The identifiers by which destinations may know an erased person. */
export type ErasedPerson = {
  readonly visitorIds: readonly string[];
  /** ExternalIds and e-mail addresses exclude values that identify another visitor. */
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  readonly phones: readonly ErasedPhone[];
  /** When the oldest of the visitors was created. */
  readonly since: Date;
};

/** As in the visitor's properties. `country` applies to a number without a country code. */
export type ErasedPhone = { readonly number: string; readonly country: string | undefined };

/** The rows that an erasure deleted. */
export type DeletedVisitor = {
  readonly cluster: readonly string[];
  readonly identities: readonly Identifier[];
  readonly profiles: readonly DeletedProfile[];
};

export type DeletedProfile = {
  readonly email: string | null;
  readonly external_id: string | null;
  readonly phone_number: string | null;
  readonly country: string | null;
  readonly created_at: Date;
};

/** SQL: the columns of a DeletedProfile. */
export const deletedProfile = `properties ->> 'email' as email, properties ->> 'external_id' as external_id,
  properties ->> 'phone_number' as phone_number, properties ->> 'country' as country, created_at`;

/** Undefined if there was no visitor: then no destination knows the person. */
export async function personOf(
  db: Queryable,
  accountId: string,
  { cluster, identities, profiles }: DeletedVisitor,
): Promise<ErasedPerson | undefined> {
  const [first, ...others] = profiles.map((profile) => profile.created_at);
  if (first === undefined) return undefined;
  const known = async (kind: IdentityKind, mentioned: readonly (string | undefined)[]): Promise<readonly string[]> => {
    const values = mentioned.filter((value) => value !== undefined);
    const { rows } = await db.query<{ value: string }>(
      'select value from visitor_identities where account_id = $1 and kind = $2 and value = any($3::text[])',
      [accountId, kind, values],
    );
    const ofOthers = new Set(rows.map(({ value }) => value));
    const own = identities.filter((one) => one.kind === kind).map(({ value }) => value);
    // A value that was too long to be stored cannot be forwarded.
    const all = [...own, ...values].filter((value) => !ofOthers.has(value) && !value.startsWith('sha256:'));
    return [...new Set(all)];
  };
  return {
    visitorIds: cluster,
    externalIds: await known(
      'external_id',
      profiles.map((profile) => cleanText(profile.external_id)),
    ),
    emails: await known(
      'email',
      profiles.map(({ email }) => cleanEmail(email)),
    ),
    phones: profiles.flatMap(({ phone_number: number, country }) =>
      number === null ? [] : [{ number, country: country ?? undefined }],
    ),
    since: others.reduce((oldest, at) => (at < oldest ? at : oldest), first),
  };
}
