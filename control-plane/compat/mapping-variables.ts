import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { modificationNames, modifications } from '../../shared/routing/modifications/modifications.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { inWords } from './in-words.ts';

const variableReply = Type.Object({
  entities: Type.Array(
    Type.Object({
      path: Type.String({ description: 'Written in a map between double braces: {{event.event}}.' }),
      name: Type.String(),
      examples: Type.Array(Type.String(), {
        description: 'Always empty: values of events are shown only with the events.',
      }),
      popularity: Type.Integer({
        description: 'Number of the newest events that have it; 0 if it is not counted.',
      }),
      advancedInfo: nullable(Type.String()),
    }),
  ),
});

/** Newest events of the recent-events view whose properties are counted. */
const eventsLookedAt = 1_000;

const tag = 'Mappings';

/** Endpoints that list the variables of a mapping's maps. */
export const mappingVariableEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings/default-variables',
    scope: 'variables:find-default',
    id: 'libraryListDefaultVariables',
    tag,
    summary: 'Paths that events and visitors of every account have',
    reply: variableReply,
    handle: async () => ({ entities: variables }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings/custom-variables',
    scope: 'variables:find-custom',
    id: 'libraryListCustomVariables',
    tag,
    summary: `Paths of the properties that the account's newest ${eventsLookedAt} events have, the most frequent first`,
    reply: variableReply,
    async handle({ principal }, { pool }) {
      const { rows } = await pool.query<{ name: string; events: string }>(
        `select name, count(*) as events
         from (
           select body from recent_events where account_id = $1 and not test
           order by received_at desc, id desc limit $2
         ) newest, jsonb_object_keys(newest.body -> 'event_properties') as name
         group by name order by events desc, name`,
        [principal.accountId, eventsLookedAt],
      );
      return {
        entities: rows.map(({ name, events }) => variable(`event.event_properties.${name}`, name, Number(events))),
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings/modifications',
    scope: 'variables:find-default',
    id: 'libraryListModifications',
    tag,
    summary: 'The modifications of a mapped value',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({ value: Type.Enum([...modificationNames]), label: Type.String(), description: Type.String() }),
      ),
    }),
    handle: async () => ({
      entities: modificationNames.map((value) => ({
        value,
        label: inWords(value),
        description: modifications[value].summary,
      })),
    }),
  }),
];

function variable(path: string, name: string, popularity: number) {
  return { path, name, examples: [], popularity, advancedInfo: null };
}

const eventPaths = ['event', 'id', 'time', 'source_id'];

/** Context fields that libraries and sources send, and well-known fields of visitors. */
const contextNames =
  `current_url host pathname title referrer ip user_agent browser_name browser_version browser_language os_name os_version
  device_type device_model screen_width screen_height utm_source utm_medium utm_campaign utm_term utm_content
  fbclid gclid ttclid msclkid sid`.split(/\s+/);
const visitorNames =
  `id email external_id first_name last_name gender date_of_birth phone_number city state zip country company_name
  job_title ip`.split(/\s+/);

const variables = [
  ...eventPaths.map((name) => variable(`event.${name}`, inWords(name), 0)),
  ...contextNames.map((name) => variable(`event.context.${name}`, inWords(name), 0)),
  ...visitorNames.map((name) => variable(`visitor.${name}`, inWords(name), 0)),
];
