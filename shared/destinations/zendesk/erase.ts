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

/**
 * Zendesk: `GET /api/v2/users/search`, then `DELETE /api/v2/users/{id}` and, to make that permanent, `DELETE
 * /api/v2/deleted_users/{id}`. https://developer.zendesk.com/api-reference/ticketing/users/users/
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
  const users = (search: string, next: () => ErasureStep): ErasureStep =>
    ask(erasureGet(`${base}/users/search.json?${search}`, headers), (answer) =>
      inTurn(
        idsIn(jsonAnswer(answer)?.['users']),
        (id, then) => {
          const forGood = () => ask(erasureDelete(`${base}/deleted_users/${id}.json`, headers), then, [404]);
          return ask(erasureDelete(`${base}/users/${id}.json`, headers), forGood, [404]);
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
      const searches = [
        ...subject.externalIds.map((id) => `external_id=${encodeURIComponent(id)}`),
        ...subject.emails.map((email) => `query=${encodeURIComponent(`email:"${email}"`)}`),
      ];
      if (identifiers.length === 0) return noIdentifier('external id, e-mail address and visitor id');
      return inTurn(identifiers, profile, () => inTurn(searches, users, done));
    },
  };
}

function idsIn(users: unknown): readonly number[] {
  return (Array.isArray(users) ? (users as unknown[]) : []).flatMap((user) => {
    const id = isJsonObject(user) ? user['id'] : undefined;
    return typeof id === 'number' ? [id] : [];
  });
}
