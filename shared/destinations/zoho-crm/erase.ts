import type { OAuthNeed } from '../../egress/oauth-grant.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, erasureDelete, erasureGet, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { ErasureEnd, PreparedErasure } from '../sdk/erasure.ts';
import { textOf } from '../sdk/event.ts';

/** Zoho moves deleted records to the recycle bin, which keeps them for 60 days. */
const inBin: ErasureEnd = { kind: 'requested', reference: 'recycle bin' };

/**
 * Zoho CRM: `DELETE /crm/v8/{module}/{id}` after `GET …/search?email=`.
 * https://www.zoho.com/crm/developer/docs/api/v8/delete-records.html
 */
export function eraseAtZohoCrm(module: string, oauth: OAuthNeed): PreparedErasure {
  return {
    begin({ subject: { emails } }) {
      if (emails.length === 0) return noIdentifier('e-mail address');
      return inTurn(
        emails,
        (email, next) =>
          ask({ ...erasureGet(`${module}/search?email=${encodeURIComponent(email)}`, {}), oauth }, (answer) => {
            const data = jsonAnswer(answer)?.['data'];
            const ids = (Array.isArray(data) ? (data as unknown[]) : []).flatMap(
              (record) => (isJsonObject(record) ? textOf(record['id']) : undefined) ?? [],
            );
            return inTurn(
              ids,
              (id, then) => ask({ ...erasureDelete(`${module}/${encodeURIComponent(id)}`, {}), oauth }, then, [404]),
              next,
            );
          }),
        inBin,
      );
    },
  };
}
