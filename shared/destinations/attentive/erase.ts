import { jsonAnswer } from '../sdk/answers.ts';
import { ask, erasurePost, inTurn, noIdentifier, requested } from '../sdk/erasure.ts';
import type { PreparedErasure } from '../sdk/erasure.ts';
import { textOf } from '../sdk/event.ts';

type Given = { readonly baseUrl: string; readonly apiKey: string };

/**
 * Attentive: `POST /v1/privacy/delete-request`, which Attentive fulfils within 30 days.
 * https://docs.attentive.com/openapi/reference/tag/Privacy/
 */
export function eraseAtAttentive({ baseUrl, apiKey }: Given): PreparedErasure {
  const url = `${baseUrl}/v1/privacy/delete-request`;
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    begin({ subject: { emails, phones, externalIds }, id }) {
      const people = [
        ...emails.map((email) => ({ subjectEmail: email })),
        ...phones.map((phone) => ({ subjectPhone: phone })),
        ...externalIds.map((externalId) => ({ clientUserId: externalId })),
      ];
      if (people.length === 0) return noIdentifier('e-mail address, phone number and external id');
      return inTurn(
        people,
        (person, next) =>
          ask(erasurePost(url, headers, { ...person, requestMsg: `Erasure ${id}` }), (answer) => {
            const following = next();
            if (following.kind !== 'requested') return following;
            const body = jsonAnswer(answer);
            return { kind: 'requested', reference: textOf(body?.['requestId']) ?? textOf(body?.['id']) };
          }),
        requested,
      );
    },
  };
}
