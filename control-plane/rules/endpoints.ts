import { Type } from 'typebox';
import { modificationNames, modifications } from '../../shared/routing/modifications/modifications.ts';
import { logicDepthMax, logicNodesMax } from '../../shared/routing/predicate/logic-schema.ts';
import { operandKinds } from '../../shared/routing/predicate/operands.ts';
import { operators } from '../../shared/routing/predicate/operators.ts';
import { forbidden, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { decideWays, wayMembers, wayReply } from '../events/decide-ways.ts';
import { findRecentEvent } from '../events/recent-events.ts';
import { hasScope } from '../keys/scopes.ts';
import { resolveSnapshot } from '../versions/version-store.ts';
import { recentRuleEndpoints } from './recent-endpoints.ts';
import { standIns, withStandIns } from './stand-in.ts';

const text = Type.String();
const named = { name: text, summary: Type.String({ description: 'One sentence about it.' }) };

const language = {
  operators: Object.entries(operators).map(([name, { summary, takes }]) => ({ name, summary, takes })),
  modifications: modificationNames.map((name) => ({ name, summary: modifications[name].summary })),
  logicDepthMax,
  logicNodesMax,
};

/** Endpoints for writing rules: their vocabulary, and a trial of a rule before it is saved. */
export const ruleEndpoints = [
  ...recentRuleEndpoints,
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/rules/language',
    scope: undefined,
    id: 'getRuleLanguage',
    tag: 'Rules',
    summary: 'The vocabulary of rules: the operators of a logic and the modifications of a mapping',
    reply: Type.Object({
      operators: Type.Array(
        Type.Object({ ...named, takes: Type.Enum([...operandKinds], { description: 'The type of its value.' }) }),
      ),
      modifications: Type.Array(Type.Object(named)),
      logicDepthMax: Type.Integer({ description: 'Maximum nesting depth of a logic.' }),
      logicNodesMax: Type.Integer({ description: 'Maximum number of conditions and joins in a logic.' }),
    }),
    handle: async () => language,
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/events/{id}/ways',
    scope: 'event:list',
    id: 'tryRulesOnEvent',
    audits: { action: 'event.read', entity: 'id' },
    personal: wayMembers,
    // The client chooses the rules, so the decisions reveal which visitors have a value.
    comparesPersonal: () => true,
    tag: 'Rules',
    summary:
      'What the rules of the draft decide about an event at each destination, and the request that would be sent, secrets masked, ' +
      'with some of the rules replaced; nothing is stored, nothing is sent. Needs `pii:read` if the account masks personal data',
    body: Type.Object(
      {
        destinationId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 64,
            description:
              'Only this destination, with the request that would be sent to it. Needs `destination:find` too.',
          }),
        ),
        ...standIns,
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({ ways: Type.Array(wayReply) }),
    async handle({ params, body, principal }, { storage, pool, secretBox, now }) {
      // The request shows the destination's settings.
      if (body.destinationId !== undefined && !hasScope(principal.scopes, 'destination:find')) {
        throw forbidden('destination:find');
      }
      const { accountId } = principal;
      const record = await found(findRecentEvent(pool, accountId, params.id), 'event');
      const { destinationId, ...given } = body;
      const draft = await resolveSnapshot(storage.fork(), accountId, 'draft');
      const snapshot = withStandIns(draft, given, now());
      const asked = { accountId, snapshot, record, destinationId, secretBox, nowMs: now().getTime() };
      return { ways: await decideWays(asked) };
    },
  }),
];
