import type { OutboundAnswer } from '../../egress/outbound.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, done, erasureDelete, erasureGet, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { ErasureStep, PreparedErasure } from '../sdk/erasure.ts';
import { textOf } from '../sdk/event.ts';

type Given = {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Source and type of the profiles, as in an identifier query: `sluice:customer`. */
  readonly profileType: string;
};

/** The query of a search; with an address if only users that have it are meant, because the search also finds parts. */
type Search = { readonly query: string; readonly email?: string };

/**
 * Zendesk: `GET /api/v2/users/search`, then `DELETE /api/v2/users/{id}` and, to make that permanent, `DELETE
 * /api/v2/deleted_users/{id}`. https://developer.zendesk.com/api-reference/ticketing/users/users/
 * `GET /api/v2/users/{id}/identities` has a user's further addresses.
 *
 * Before that, `GET /api/v2/user_profiles` and `DELETE /api/v2/user_profiles/{id}` for the profiles of events, because
 * events are deleted only with their profile.
 * https://developer.zendesk.com/documentation/ticketing/events/deleting-events
 */
export function eraseAtZendesk({ base, headers, profileType }: Given): PreparedErasure {
  const profile = (identifier: string, next: () => ErasureStep): ErasureStep => {
    const query = encodeURIComponent(`${profileType}:${identifier}`);
    const found = (answer: OutboundAnswer): ErasureStep => {
      const known = jsonAnswer(answer)?.['profile'];
      const id = isJsonObject(known) ? textOf(known['id']) : undefined;
      if (id === undefined) return next();
      return ask(erasureDelete(`${base}/user_profiles/${encodeURIComponent(id)}`, headers), next, [404]);
    };
    return ask(erasureGet(`${base}/user_profiles?identifier=${query}`, headers), found, [404]);
  };
  const users = ({ query, email }: Search, next: () => ErasureStep): ErasureStep =>
    ask(erasureGet(`${base}/users/search.json?${query}`, headers), (answer) =>
      inTurn(
        usersIn(jsonAnswer(answer)?.['users']),
        ({ id, email: main }, then) => {
          const forGood = () => ask(erasureDelete(`${base}/deleted_users/${id}.json`, headers), then, [404]);
          const erase = () => ask(erasureDelete(`${base}/users/${id}.json`, headers), forGood, [404]);
          if (email === undefined || isSame(main, email)) return erase();
          const judge = (identities: OutboundAnswer) => (hasEmail(identities, email) ? erase() : then());
          return ask(erasureGet(`${base}/users/${id}/identities.json`, headers), judge, [404]);
        },
        next,
      ),
    );
  return {
    begin({ subject }) {
      const identifiers = [
        ...subject.externalIds.map((id) => `external_id:${id}`),
        ...subject.emails.map((email) => `email:${email}`),
        ...subject.visitorIds.map((id) => `visitor_id:${id}`),
      ];
      const searches: readonly Search[] = [
        ...subject.externalIds.map((id) => ({ query: `external_id=${encodeURIComponent(id)}` })),
        ...subject.emails.map((email) => ({ query: `query=${encodeURIComponent(`email:"${email}"`)}`, email })),
      ];
      if (identifiers.length === 0) return noIdentifier('external id, e-mail address and visitor id');
      return inTurn(identifiers, profile, () => inTurn(searches, users, done));
    },
  };
}

type FoundUser = { readonly id: number; readonly email: unknown };

function usersIn(users: unknown): readonly FoundUser[] {
  return (Array.isArray(users) ? (users as unknown[]) : []).flatMap((user) => {
    const { id, email } = isJsonObject(user) ? user : {};
    return typeof id === 'number' ? [{ id, email }] : [];
  });
}

const isSame = (found: unknown, email: string): boolean =>
  typeof found === 'string' && found.toLowerCase() === email.toLowerCase();

function hasEmail(answer: OutboundAnswer, email: string): boolean {
  const identities = jsonAnswer(answer)?.['identities'];
  return Array.isArray(identities) && identities.filter(isJsonObject).some(({ value }) => isSame(value, email));
}
