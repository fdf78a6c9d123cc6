import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, erasureGet, erasurePost, inTurn, noIdentifier, requested } from '../sdk/erasure.ts';
import type { ErasureStep, PreparedErasure } from '../sdk/erasure.ts';

type Given = { readonly baseUrl: string; readonly headers: Readonly<Record<string, string>> };

/**
 * Klaviyo: `POST /api/data-privacy-deletion-jobs` with exactly one of e-mail address, phone number and profile id;
 * the key needs the scopes data-privacy:write and profiles:read. The profile id is looked up by external id.
 * https://developers.klaviyo.com/en/reference/request_profile_deletion
 */
export function eraseAtKlaviyo({ baseUrl, headers }: Given): PreparedErasure {
  const job = (identifier: JsonObject, next: () => ErasureStep): ErasureStep => {
    const { id, ...attributes } = identifier;
    const profile = { type: 'profile', ...(id === undefined ? {} : { id }), attributes };
    const data = { type: 'data-privacy-deletion-job', attributes: { profile: { data: profile } } };
    return ask(erasurePost(`${baseUrl}/api/data-privacy-deletion-jobs`, headers, { data }), next, [404]);
  };
  const byExternalId = (externalId: string, next: () => ErasureStep): ErasureStep => {
    const filter = `equals(external_id,${JSON.stringify(externalId)})`;
    const url = `${baseUrl}/api/profiles?filter=${encodeURIComponent(filter)}&fields[profile]=external_id`;
    return ask(erasureGet(url, headers), (answer) => {
      const data = jsonAnswer(answer)?.['data'];
      const ids = (Array.isArray(data) ? data : []).flatMap((one: unknown) => (isJsonObject(one) ? [one['id']] : []));
      return inTurn(ids, (id, then) => job({ id }, then), next);
    });
  };
  return {
    begin({ subject: { emails, phones, externalIds } }) {
      if (emails.length + phones.length + externalIds.length === 0) {
        return noIdentifier('e-mail address, phone number and external id');
      }
      const contacts = [...emails.map((email) => ({ email })), ...phones.map((phone) => ({ phone_number: phone }))];
      // Profiles are looked up by external id before the jobs by e-mail address and phone number delete them.
      return inTurn(externalIds, byExternalId, () => inTurn(contacts, job, requested));
    },
  };
}
