import type { JsonObject } from '../../runtime/json.ts';
import { ask, done, erasurePost, inChunks, inTurn } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

const idsMax = 50;

type Given = { readonly baseUrl: string; readonly apiKey: string; readonly aliasLabel: string };

/**
 * Braze: `POST /users/delete`, up to 50 identifiers of one type per request; the key needs the permission users.delete.
 * https://www.braze.com/docs/api/endpoints/user_data/post_user_delete. External ids, e-mail addresses and the aliases
 * of the visitor ids are all deleted, because deliveries identify users by any of them.
 */
export function eraseAtBraze({ baseUrl, apiKey, aliasLabel }: Given): PreparedErasure {
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    begin({ subject }) {
      const aliases = subject.visitorIds.map((id) => ({ alias_name: id, alias_label: aliasLabel }));
      const sorts: readonly (readonly [string, readonly (string | JsonObject)[]])[] = [
        ['external_ids', subject.externalIds],
        ['email_addresses', subject.emails],
        ['user_aliases', aliases],
      ];
      const bodies = sorts.flatMap(([name, ids]) => inChunks(ids, idsMax).map((some) => ({ [name]: some })));
      return inTurn(
        bodies,
        (body, next) => ask(erasurePost(`${baseUrl}/users/delete`, headers, body), next, [404]),
        done,
      );
    },
  };
}
