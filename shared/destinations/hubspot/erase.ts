import { ask, done, erasurePost, inTurn, noIdentifier } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';

type Given = {
  readonly baseUrl: string;
  readonly accessToken: string;
  readonly contactIdProperty: string | undefined;
};

/**
 * HubSpot: `POST /crm/v3/objects/contacts/gdpr-delete`, by e-mail address, which is blocked even if no contact has it,
 * and by the property with the external id, if the settings name one. The reference states e-mail addresses only, so
 * these come first. The key needs crm.objects.contacts.write.
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/gdpr/post-crm-v3-objects-contacts-gdpr-delete
 */
export function eraseAtHubspot({ baseUrl, accessToken, contactIdProperty }: Given): PreparedErasure {
  const url = `${baseUrl}/crm/v3/objects/contacts/gdpr-delete`;
  const headers = { authorization: `Bearer ${accessToken}` };
  return {
    begin({ subject: { emails, externalIds } }) {
      const contacts = [
        ...emails.map((email) => [email, 'email'] as const),
        ...(contactIdProperty === undefined ? [] : externalIds).map((id) => [id, contactIdProperty] as const),
      ];
      if (contacts.length === 0) {
        return noIdentifier(contactIdProperty === undefined ? 'e-mail address' : 'e-mail address and external id');
      }
      return inTurn(
        contacts,
        ([objectId, idProperty], next) => ask(erasurePost(url, headers, { objectId, idProperty }), next, [404]),
        done,
      );
    },
  };
}
