import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowRefusal } from '../sdk/answers.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { isIdentify, mappedProperties, propertiesOf, textOf, traitsOf } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import type { OAuthNeed } from '../../egress/oauth-grant.ts';
import { nameIn } from '../sdk/person-name.ts';
import { contactIds } from '../sdk/person.ts';
import { nameList, pairList } from '../sdk/setting-lists.ts';
import {
  address,
  choice,
  optionalBaseUrl,
  optionalText,
  readWebUrl,
  requiredText,
  SettingError,
  toggle,
  token,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { eraseAtZohoCrm } from './erase.ts';

const dataCentres = {
  com: { url: 'https://www.zohoapis.com', accounts: 'https://accounts.zoho.com' },
  eu: { url: 'https://www.zohoapis.eu', accounts: 'https://accounts.zoho.eu' },
  in: { url: 'https://www.zohoapis.in', accounts: 'https://accounts.zoho.in' },
  'com.au': { url: 'https://www.zohoapis.com.au', accounts: 'https://accounts.zoho.com.au' },
  jp: { url: 'https://www.zohoapis.jp', accounts: 'https://accounts.zoho.jp' },
  'com.cn': { url: 'https://www.zohoapis.com.cn', accounts: 'https://accounts.zoho.com.cn' },
} as const;
const batchEventsMax = 100;

const apiName = /^[A-Za-z]\w*$/;

const settings = {
  dataCentre: address(
    choice<keyof typeof dataCentres>({
      label: 'Data centre',
      options: [
        { label: 'United States', value: 'com' },
        { label: 'Europe', value: 'eu' },
        { label: 'India', value: 'in' },
        { label: 'Australia', value: 'com.au' },
        { label: 'Japan', value: 'jp' },
        { label: 'China', value: 'com.cn' },
      ],
      sublabel: 'The region of your organisation.',
      fallback: 'com',
      example: 'eu',
    }),
  ),
  module: choice({
    label: 'Module',
    options: ['Leads', 'Contacts'],
    sublabel: 'The module that stores people.',
    fallback: 'Leads',
    example: 'Leads',
  }),
  clientId: requiredText({
    label: 'Client ID',
    placeholder: '1000.…',
    sublabel: 'From a client in the API console.',
    example: '1000.EXAMPLE',
  }),
  clientSecret: token({ label: 'Client secret', example: 'example-secret' }),
  refreshToken: token({
    label: 'Refresh token',
    placeholder: '1000.…',
    sublabel: 'With the scope ZohoCRM.modules.ALL, or the scope of the module.',
    example: '1000.example-refresh',
  }),
  fields: pairList({
    label: 'Fields',
    placeholder: 'plan = Plan, city = City',
    sublabel: 'Visitor properties in addition to name, phone and company, each with the API name of its field.',
    example: 'plan=Plan',
    value: apiName,
  }),
  duplicateCheckFields: nameList({
    label: 'Duplicate check fields',
    placeholder: 'Email, Phone',
    sublabel: 'API names of the fields by which Zoho CRM finds the record to update, in this order. Defaults to Email.',
  }),
  unknownName: choice({
    label: 'People without a last name',
    options: [
      { label: 'Leave the last name out', value: 'none' },
      { label: 'Use the e-mail address', value: 'email' },
    ],
    sublabel:
      'Zoho CRM creates no record without a last name, but updates existing ones. Using the e-mail address replaces the last name of existing records.',
    fallback: 'none',
  }),
  runWorkflows: toggle({
    label: 'Run workflows',
    sublabel: 'The automation that Zoho CRM runs when a record changes.',
  }),
  baseUrl: optionalBaseUrl(dataCentres.com.url),
  tokenUrl: address(
    optionalText({ label: 'Token URL', placeholder: `${dataCentres.com.accounts}/oauth/v2/token` }, readWebUrl),
  ),
};

/**
 * Zoho CRM: the person of each $identify becomes a lead or contact. `POST /crm/v8/{module}/upsert` finds up to 100
 * records by e-mail address or other fields, and returns a result for each row.
 * https://www.zoho.com/crm/developer/docs/api/v8/upsert-records.html. Other events are sent only if a mapping produces
 * the fields of the record, by API name.
 */
export const zohoCrm = defineDestination({
  id: 'ZohoCRM',
  label: 'Zoho CRM',
  settings,
  facts: {
    sends: '$identify as a lead or contact; other events through a mapping',
    limits: { events: batchEventsMax },
    deduplicatesBy: 'Email',
    errors: 'row by row, with a code',
    sources: [
      'https://www.zoho.com/crm/developer/docs/api/v8/upsert-records.html',
      'https://www.zoho.com/crm/developer/docs/api/v8/status-codes.html',
    ],
    checked: '2026-11-27',
    version: { name: 'v8', ends: undefined },
    skips: { group: 'only events with a mapping become records', alias: 'only events with a mapping become records' },
    namesElsewhere: ['ZOHO'],
  },
  loadPlatform: async () => (await import('./platform.ts')).zohoCrmPlatform,
  prepare,
  erase: (given) => eraseAtZohoCrm(moduleUrl(given), oauthOf(given)),
});

type Given = SettingsOf<typeof settings>;

const moduleUrl = (given: Given): string =>
  `${given.baseUrl ?? dataCentres[given.dataCentre].url}/crm/v8/${given.module}`;

function oauthOf({ clientId, clientSecret, refreshToken, tokenUrl, dataCentre }: Given): OAuthNeed {
  return {
    grant: {
      tokenUrl: tokenUrl ?? `${dataCentres[dataCentre].accounts}/oauth/v2/token`,
      by: { kind: 'refresh-token', refreshToken },
      client: { id: clientId.trim(), secret: clientSecret, sentIn: 'body' },
    },
    scheme: 'Zoho-oauthtoken',
  };
}

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { runWorkflows, duplicateCheckFields } = given;
  if (!duplicateCheckFields.every((name) => apiName.test(name))) {
    throw new SettingError('duplicateCheckFields', 'must be API names of fields, separated by commas');
  }
  const checked = duplicateCheckFields.length === 0 ? ['Email'] : duplicateCheckFields;
  const url = `${moduleUrl(given)}/upsert`;
  const oauth = oauthOf(given);
  // With an empty list Zoho runs no automation; without the list it runs all.
  const trigger = runWorkflows ? undefined : [];
  return {
    batchEventsMax,
    retriesRows: true,
    accepts: (event) => isIdentify(event) || mappedProperties(event) !== undefined,
    buildRequest(events) {
      const data = events.map((event) => recordOf(event, given, checked));
      const body = { data, duplicate_check_fields: checked, trigger };
      return { ...postJson({ url, body, events }), oauth };
    },
    readAnswer: (answer, events) => readRows(answer, events.length),
  };
}

function recordOf(event: OutboundEvent, given: Given, checked: readonly string[]): JsonObject {
  const record = mappedProperties(event) === undefined ? personOf(event, given) : propertiesOf(event);
  if (checked.every((name) => textForm(record[name]) === undefined)) {
    throw new UnfitEventError(`Zoho CRM needs a field to find the record by: ${checked.join(', ')}`);
  }
  return record;
}

function personOf(event: OutboundEvent, { fields, unknownName }: Given): JsonObject {
  const traits = traitsOf(event);
  const { email, phone } = contactIds(event);
  const { firstName, lastName } = nameIn(traits);
  const isOneWord = textOf(traits['first_name']) === undefined && firstName !== undefined;
  const own = fields.flatMap(([name, field]) => {
    const value = traits[name];
    return value === undefined || value === null ? [] : [[field, value] as const];
  });
  return {
    ...Object.fromEntries(own),
    Email: email,
    First_Name: lastName === undefined && isOneWord ? undefined : firstName,
    // The call overwrites the name, so a text that is not a name would replace a name that a person entered. A name of
    // one word is the last name.
    Last_Name: lastName ?? (isOneWord ? firstName : unknownName === 'email' ? email : undefined),
    Phone: phone,
    Company: textOf(traits['company_name']),
  };
}

/** Zoho's codes for temporary errors. */
const passing: ReadonlySet<unknown> = new Set(['INTERNAL_ERROR', 'TOO_MANY_REQUESTS', 'RECORD_IN_PROGRESS']);

function readRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const rows = jsonAnswer(answer)?.['data'];
  if (!Array.isArray(rows) || rows.length !== count) return undefined;
  return rows.map((row: unknown): Outcome => {
    const code = isJsonObject(row) ? row['code'] : undefined;
    if (code === 'SUCCESS') return { kind: 'delivered' };
    return { kind: passing.has(code) ? 'retry' : 'reject', reason: rowRefusal(code) };
  });
}
