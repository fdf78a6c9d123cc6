import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import type { FormField } from '../sdk/form-fields.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';
import { labelOf } from '../sdk/path.ts';

/**
 * Heyflow: a response with fields by label, or, in the larger payload, as a list of fields with labels and values.
 */
export const heyflow = defineSourceKind({
  type: 'Heyflow',
  label: 'Heyflow',
  setUp: 'The flow, Integrate, Hooks: the address',
  notes: 'Heyflow signs nothing.',
  follows: ['https://www.heyflow.help/en/articles/5469495-webhook-api'],
  table: { id: ['id'], time: ['createdAt', 'created'] },
  fields: ({ fields }) =>
    Array.isArray(fields)
      ? fields.filter((field): field is JsonObject => isJsonObject(field)).map(listed)
      : membersAsFields(fields),
});

function listed({ label, variable, values }: JsonObject): FormField {
  const [first]: unknown[] = Array.isArray(values) ? values : [values];
  // The variable, which is meant for machines, names the field; without one, the label, which is meant for people.
  const name = typeof variable === 'string' && variable !== '' ? variable : label;
  return { label: labelOf(name), value: isJsonObject(first) ? (first['answer'] ?? first['label']) : first };
}
