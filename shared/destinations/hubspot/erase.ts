import { ask, done, erasurePost, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

type Given = { readonly baseUrl: string; readonly accessToken: string };

/**
 * HubSpot: `POST /crm/v3/objects/contacts/gdpr-delete`, which blocks the address even if no contact has it. The key
 * needs crm.objects.contacts.write.
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/gdpr/post-crm-v3-objects-contacts-gdpr-delete
 */
export function eraseAtHubspot({ baseUrl, accessToken }: Given): PreparedErasure {
  const url = `${baseUrl}/crm/v3/objects/contacts/gdpr-delete`;
  const headers = { authorization: `Bearer ${accessToken}` };
  return {
    begin({ subject: { emails } }) {
      if (emails.length === 0) return noIdentifier('e-mail address');
      return inTurn(
        emails,
        (email, next) => ask(erasurePost(url, headers, { objectId: email, idProperty: 'email' }), next, [404]),
        done,
      );
    },
  };
}
