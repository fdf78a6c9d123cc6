import { Type } from 'typebox';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import { destinations } from '../../shared/collections/destinations.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { settingContext } from '../../shared/contracts/config/secrets.ts';
import { replySchema, viewEntity } from '../collections/entity-schemas.ts';
import { maskSettings } from '../draft/mask-settings.ts';
import { sandboxReply } from './sandbox.ts';
import type { SettingSealer } from './settings.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';

/** A destination as the interface returns it. */
export const destinationReply = replySchema(destinations);

/** A destination as a client may read it: secrets are masked. */
export function viewDestination(row: ConfigEntityRow): JsonObject {
  const { settings } = row.body as DestinationBody;
  return { ...viewEntity(destinations, row), settings: maskSettings(settings) };
}

/** Binds the secrets of a destination to this destination. */
export function sealerFor(secretBox: SecretBox, accountId: string, destinationId: string): SettingSealer {
  const context = (key: string): string => settingContext(accountId, destinationId, key);
  return {
    seal: (key, plain) => secretBox.seal(plain, context(key)),
    open: (key, sealed) => secretBox.open(sealed, context(key)),
  };
}

const key = Type.String();
const label = Type.String();
const sublabel = nullable(Type.String());
const required = nullable(Type.Boolean());

const setting = Type.Union([
  Type.Object({ key, type: Type.Literal('Alert'), label }),
  Type.Object({
    key,
    type: Type.Literal('Select'),
    label,
    options: Type.Array(Type.Object({ label: Type.String(), value: Type.String() })),
    sublabel,
    required,
    defaultValue: nullable(Type.String()),
  }),
  Type.Object({
    key,
    type: Type.Literal('Switch'),
    label,
    required,
    sublabel,
    defaultValue: nullable(Type.Boolean()),
  }),
  Type.Object({ key, type: Type.Literal('GenericOauth'), label, sublabel }),
  Type.Object({ key, type: Type.Enum(['Text', 'Secret']), label, placeholder: Type.String(), sublabel, required }),
]);

/** A destination kind as the types endpoint describes it. */
export const destinationDescriptorReply = Type.Object({
  id: Type.String(),
  label: Type.String(),
  names: Type.Array(Type.String(), { description: 'Names of the platform at Segment, RudderStack and others.' }),
  status: Type.Enum(['deprecated', 'ga']),
  capabilities: Type.Object({
    oauth: Type.Boolean(),
    listsAccounts: Type.Boolean(),
    supportsRenamedEvents: Type.Boolean(),
  }),
  settings: Type.Array(setting),
});

const headers = Type.Record(Type.String(), Type.String());

/** The reply to a destination test: the outcome, the request that was sent, and the platform's answer. */
export const destinationTestReply = Type.Object({
  outcome: Type.Enum(['delivered', 'dropped', 'retry', 'held', 'reject', 'skipped'], {
    description:
      'delivered: the platform accepted it. dropped: the platform accepted it and discarded it by a rule of its ' +
      'own, such as against bots. ' +
      'retry: the pipeline would try again. held: the platform rejects the key or token, so that the destination would ' +
      'be paused and its events would wait until a valid one is set. reject: it would become a dead letter. ' +
      'skipped: the kind has no use for an event of this name and sends nothing.',
  }),
  reason: nullable(
    Type.String({
      description:
        'Why it was not delivered: `status 401`, `network ECONNREFUSED`, `address or port not allowed (EGRESS_ALLOW)`, ' +
        'or the field that the event lacks.',
    }),
  ),
  settings: Type.Enum(['draft', 'published']),
  eventId: Type.String({ description: 'The id with which the event was sent.' }),
  durationMs: nullable(Type.Integer({ minimum: 0, description: 'Null if nothing was sent.' })),
  request: nullable(
    Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers,
      body: nullable(Type.String({ description: 'Its first 65,536 characters.' })),
    }),
  ),
  sandbox: sandboxReply,
  answer: nullable(
    Type.Object({
      status: Type.Integer(),
      headers,
      body: Type.String({ description: 'Its first 16,384 characters.' }),
    }),
  ),
});
