import type { JsonObject } from '../../runtime/json.ts';
import { ask, done, erasurePost, inChunks, inTurn } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

const idsMax = 50;
const prioritization = ['unidentified', 'most_recently_updated'];

type Given = { readonly baseUrl: string; readonly apiKey: string; readonly aliasLabel: string };

/**
 * Braze: `POST /users/delete`, up to 50 identifiers of one type per request; the key needs the permission users.delete.
 * https://www.braze.com/docs/api/endpoints/user_data/post_user_delete. External ids, the aliases of the visitor ids and
 * e-mail addresses are all deleted, because deliveries identify users by any of them.
 */
export function eraseAtBraze({ baseUrl, apiKey, aliasLabel }: Given): PreparedErasure {
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    begin({ subject }) {
      // Of several users with an address, Braze deletes the one that `prioritization` selects. An identified user that
      // remains may be another person with the same address.
      const addresses = subject.emails.map((email) => ({ email, prioritization }));
      const aliases = subject.visitorIds.map((id) => ({ alias_name: id, alias_label: aliasLabel }));
      const sorts: readonly (readonly [string, readonly (string | JsonObject)[]])[] = [
        ['external_ids', subject.externalIds],
        ['user_aliases', aliases],
        ['email_addresses', addresses],
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
