import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, done, erasureDelete, erasureGet, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { textOf } from '../sdk/event.ts';

type Given = { readonly apiUrl: string; readonly apiKey: string };

/**
 * ActiveCampaign: `DELETE /api/3/contacts/{id}` after `GET /api/3/contacts?email=`.
 * https://developers.activecampaign.com/reference/delete-contact
 */
export function eraseAtActiveCampaign({ apiUrl, apiKey }: Given): PreparedErasure {
  const base = `${apiUrl}/api/3/contacts`;
  const headers = { 'api-token': apiKey };
  return {
    begin({ subject: { emails } }) {
      if (emails.length === 0) return noIdentifier('e-mail address');
      return inTurn(
        emails,
        (email, next) =>
          ask(erasureGet(`${base}?email=${encodeURIComponent(email)}`, headers), (answer) => {
            const contacts = jsonAnswer(answer)?.['contacts'];
            // At most one contact has this e-mail address.
            const [contact] = Array.isArray(contacts) ? (contacts as unknown[]) : [];
            const id = isJsonObject(contact) ? textOf(contact['id']) : undefined;
            if (id === undefined) return next();
            return ask(erasureDelete(`${base}/${encodeURIComponent(id)}`, headers), next, [404]);
          }),
        done,
      );
    },
  };
}
