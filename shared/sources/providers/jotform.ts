import sjson from 'secure-json-parse';
import { textNestsDeeper } from '../../runtime/json-depth.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Jotform: multipart/form-data with a few fields; `rawRequest` contains all answers as JSON text. An edited
 * submission arrives again with the same id.
 */
export const jotform = defineSourceKind({
  type: 'JotFormWebhooks',
  label: 'Jotform',
  setUp: 'The form, Settings, Integrations, WebHooks: the address',
  notes: 'Jotform signs nothing: the source key in the address is the only proof.',
  follows: ['https://www.jotform.com/help/245-how-to-setup-a-webhook-with-jotform/', 'https://api.jotform.com/docs/'],
  table: {
    id: ['submissionID'],
    idCoversContent: true,
    time: ['rawRequest.submitDate'],
    ip: ['ip'],
  },
  prepare(event) {
    const { rawRequest } = event;
    const answers = typeof rawRequest === 'string' ? parseObject(rawRequest) : undefined;
    return answers === undefined ? event : { ...event, rawRequest: answers };
  },
  fields: ({ rawRequest }) => membersAsFields(rawRequest),
});

/** Maximum nesting that is parsed; no form nests its questions this deeply. */
const depthMax = 16;

function parseObject(text: string): JsonObject | undefined {
  if (textNestsDeeper(text, depthMax)) return undefined;
  try {
    const value: unknown = sjson.parse(text, { protoAction: 'remove', constructorAction: 'remove' });
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
