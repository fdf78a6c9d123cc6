import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import type { FormField } from '../sdk/form-fields.ts';
import { compilePath, valueAt, labelOf } from '../sdk/path.ts';
import { campaignContext, defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Alchemer: account webhooks, `{webhook_name, data}`, and the webhook action of a survey, with the response under
 * `response` or at the top level, as JSON or a form.
 */
export const alchemer = defineSourceKind({
  type: 'AlchemerWebhook',
  label: 'Alchemer',
  setUp: 'Integrations, Webhooks: Response received, post processing; or the survey, Action, Webhook, POST as JSON',
  notes: 'Alchemer signs nothing.',
  follows: ['https://help.alchemer.com/help/account-webhooks', 'https://help.alchemer.com/help/http-connect'],
  table: {
    name: ['webhook_name'],
    id: ['data.response_id', 'data.survey_id', 'webhook_name'],
    idCoversContent: true,
    time: ['data.date_submitted', 'response.date_submitted', 'date_submitted'],
    email: ['data.contact.Email', 'data.contact.email'],
    traits: {
      first_name: ['data.contact.First Name', 'data.contact.first_name'],
      last_name: ['data.contact.Last Name', 'data.contact.last_name'],
      phone_number: ['data.contact.Phone', 'data.contact.phone'],
    },
    context: campaignContext((name) => [`data.url.${name}`, `data.url_variables.${name}`]),
  },
  fields: (event) => [
    ...answersOf(valueAt(event, surveyDataPath)),
    ...answersOf(valueAt(event, responsePath)),
    ...membersAsFields(event),
  ],
});

const surveyDataPath = compilePath('data.survey_data');
const responsePath = compilePath('response.survey_data');

/** Questions by number: `{"2": {question, answer, options}}`. */
function answersOf(questions: unknown): FormField[] {
  if (!isJsonObject(questions)) return [];
  return Object.values(questions)
    .filter((question): question is JsonObject => isJsonObject(question))
    .map(({ question, answer }) => ({ label: labelOf(question), value: answer }));
}
