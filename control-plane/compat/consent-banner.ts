import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';

/**
 * Fields of a consent record that translate to purposes. All other fields describe a banner, its texts and its scripts.
 */
const translated: Readonly<Record<string, readonly string[]>> = {
  '': ['name', 'status', 'categories', 'default', 'id', 'kind', 'createdAt', 'updatedAt'],
  default: ['mode', 'language', 'translations', 'categories'],
  'default.categories.value': ['enabled', 'readOnly'],
};

/**
 * Throws a 400 for the first field of a consent record of the platform library that Sluice does not have: Sluice stores
 * purposes and shows no banner. A field in its unused form (null, false, 0, empty) is accepted.
 */
export function refuseBanner(record: JsonObject): void {
  refuseOthers(record, '', translated['']);
  const { default: rule } = record;
  if (!isJsonObject(rule)) return;
  refuseOthers(rule, 'default.', translated['default']);
  for (const [index, entry] of listOf(rule['categories']).entries()) {
    const at = `default.categories[${index}].value.`;
    if (isJsonObject(entry['value'])) refuseOthers(entry['value'], at, translated['default.categories.value']);
  }
  for (const [index, entry] of listOf(rule['translations']).entries()) {
    const at = `default.translations[${index}].value.`;
    if (isJsonObject(entry['value'])) refuseOthers(entry['value'], at, []);
  }
}

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

function refuseOthers(of: JsonObject, at: string, known: readonly string[] = []): void {
  for (const [name, value] of Object.entries(of)) {
    if (!known.includes(name) && !isUnused(value)) {
      throw badRequest(`${at}${name}: a consent banner is not part of Sluice, omit the field or send null`);
    }
  }
}

const isUnused = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === 0 ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
