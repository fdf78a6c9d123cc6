import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, done, erasureDelete, erasureGet, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

/**
 * Zendesk: `GET /api/v2/users/search`, then `DELETE /api/v2/users/{id}` and, to make that permanent, `DELETE
 * /api/v2/deleted_users/{id}`. https://developer.zendesk.com/api-reference/ticketing/users/users/
 */
export function eraseAtZendesk(base: string, headers: Readonly<Record<string, string>>): PreparedErasure {
  return {
    begin({ subject }) {
      const searches = [
        ...subject.externalIds.map((id) => `external_id=${encodeURIComponent(id)}`),
        ...subject.emails.map((email) => `query=${encodeURIComponent(`email:"${email}"`)}`),
      ];
      if (searches.length === 0) return noIdentifier('external id and e-mail address');
      return inTurn(
        searches,
        (search, next) =>
          ask(erasureGet(`${base}/users/search.json?${search}`, headers), (answer) =>
            inTurn(
              idsIn(jsonAnswer(answer)?.['users']),
              (id, then) => {
                const forGood = () => ask(erasureDelete(`${base}/deleted_users/${id}.json`, headers), then, [404]);
                return ask(erasureDelete(`${base}/users/${id}.json`, headers), forGood, [404]);
              },
              next,
            ),
          ),
        done,
      );
    },
  };
}

function idsIn(users: unknown): readonly number[] {
  return (Array.isArray(users) ? (users as unknown[]) : []).flatMap((user) => {
    const id = isJsonObject(user) ? user['id'] : undefined;
    return typeof id === 'number' ? [id] : [];
  });
}
