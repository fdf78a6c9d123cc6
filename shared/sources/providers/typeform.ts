import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { FormField } from '../sdk/form-fields.ts';
import { compilePath, valueAt, labelOf } from '../sdk/path.ts';
import { bodySignature } from '../sdk/signature.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/** Typeform: one request per response. Answers have a type; the question's title indicates the meaning of a text. */
export const typeform = defineSourceKind({
  type: 'TypeformWebhooks',
  label: 'Typeform',
  setUp: 'The form, Connect, Webhooks, Add a webhook: Endpoint; Secret under Edit',
  notes: 'Hidden fields `user_id`, `external_id`, `email` and `utm_*` are read.',
  follows: [
    'https://www.typeform.com/developers/webhooks/example-payload/',
    'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
  ],
  signature: bodySignature({
    header: 'Typeform-Signature',
    algorithm: 'sha256',
    encoding: 'base64',
    prefix: 'sha256=',
    secretName: 'Secret',
  }),
  table: {
    name: ['event_type'],
    id: ['event_id'],
    time: ['form_response.submitted_at'],
    externalId: ['form_response.hidden.external_id', 'form_response.hidden.user_id'],
    email: ['form_response.answers[type=email].email', 'form_response.hidden.email'],
    traits: { phone_number: ['form_response.answers[type=phone_number].phone_number'] },
    context: campaignContext((name) => [`form_response.hidden.${name}`]),
  },
  fields: answersByTitle,
});

const answersPath = compilePath('form_response.answers');
const questionsPath = compilePath('form_response.definition.fields');

function answersByTitle(event: JsonObject): FormField[] {
  const titles = new Map<unknown, string>();
  for (const question of objectsAt(event, questionsPath)) titles.set(question['id'], labelOf(question['title']));
  return objectsAt(event, answersPath).map((answer) => {
    const { field, type } = answer;
    const title = isJsonObject(field) ? titles.get(field['id']) : undefined;
    return { label: title ?? '', value: typeof type === 'string' ? answer[type] : undefined };
  });
}

function objectsAt(event: JsonObject, path: typeof answersPath): JsonObject[] {
  const value = valueAt(event, path);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
