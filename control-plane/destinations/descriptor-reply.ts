import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';

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
  status: Type.Enum(['deprecated', 'ga']),
  capabilities: Type.Object({
    oauth: Type.Boolean(),
    listsAccounts: Type.Boolean(),
    supportsRenamedEvents: Type.Boolean(),
  }),
  settings: Type.Array(setting),
});
