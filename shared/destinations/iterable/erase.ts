import { ask, done, erasureDelete, erasurePost, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

type Given = {
  readonly apiKey: string;
  readonly region: { readonly url: string };
  readonly baseUrl: string | undefined;
};

/**
 * Iterable: `DELETE /api/users/{email}` and `/api/users/byUserId/{userId}`; after `POST /api/users/forget`, which also
 * deletes the person, Iterable refuses later data. https://api.iterable.com/api/docs#users_delete
 */
export function eraseAtIterable({ apiKey, region, baseUrl }: Given): PreparedErasure {
  const base = `${baseUrl ?? region.url}/api/users`;
  const headers = { 'api-key': apiKey };
  return {
    begin({ subject, isSuppressed }) {
      const people = [
        ...subject.emails.map((email) => ({ path: encodeURIComponent(email), body: { email } })),
        ...subject.externalIds.map((id) => ({ path: `byUserId/${encodeURIComponent(id)}`, body: { userId: id } })),
      ];
      if (people.length === 0) return noIdentifier('e-mail address and external id');
      return inTurn(
        people,
        ({ path, body }, next) => {
          const request = isSuppressed
            ? erasurePost(`${base}/forget`, headers, body)
            : erasureDelete(`${base}/${path}`, headers);
          return ask(request, next, [404]);
        },
        done,
      );
    },
  };
}
