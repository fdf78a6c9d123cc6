import { Type } from 'typebox';
import type { Static } from 'typebox';
import { sourceTypes } from '../../shared/collections/source-types.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { findSourceKind } from '../../shared/sources/registry.ts';

const groups = ['page', 'app', 'server', 'webhook'] as const;

export const sourceTypeReply = Type.Object({
  id: Type.String(),
  label: Type.String(),
  group: Type.Enum([...groups], {
    description: 'The kind of sender: a web page, an app, a server, or the webhook of a provider.',
  }),
  setUp: nullable(Type.String({ description: 'Where the address of the webhook is entered at the provider.' })),
  notes: nullable(Type.String({ description: 'Further notes about the provider.' })),
  secretName: nullable(
    Type.String({ description: "The provider's name for the secret of `signingSecret`; null where it signs nothing." }),
  ),
  tokenName: nullable(
    Type.String({
      description: "The provider's name for the token of `accessToken`; null where nothing is fetched from it.",
    }),
  ),
});

type SourceType = Static<typeof sourceTypeReply>;

/** Types whose requests are in a format of Sluice or of a library, by group. */
const ownTypes: Readonly<Record<string, readonly [label: string, group: SourceType['group']]>> = {
  WebSource: ['Web site', 'page'],
  PixelImage: ['Pixel', 'page'],
  RedirectSource: ['Short link', 'page'],
  iOSNativeApi: ['iOS app', 'app'],
  AndroidNativeApi: ['Android app', 'app'],
  ReactNativeApi: ['React Native app', 'app'],
  HTTPApiSource: ['HTTP API', 'server'],
  NodejsApi: ['Node.js', 'server'],
  PythonApi: ['Python', 'server'],
  GoLangApi: ['Go', 'server'],
  RubyApi: ['Ruby', 'server'],
  PHPApi: ['PHP', 'server'],
  DotNetApi: ['.NET', 'server'],
  CSharpApi: ['C#', 'server'],
  KotlinApi: ['Kotlin', 'server'],
  Webhook: ['Webhook with any JSON', 'webhook'],
};

/** Every type a source may have, in the order of the console: by group, then by label. */
export function describeSourceTypes(): readonly SourceType[] {
  return sourceTypes
    .map(describe)
    .toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.label.localeCompare(b.label));
}

/** The name of a type; its id where it is unknown. */
export function sourceTypeLabel(id: string): string {
  return ownTypes[id]?.[0] ?? findSourceKind(id)?.label ?? id;
}

function describe(id: string): SourceType {
  const kind = findSourceKind(id);
  const group = ownTypes[id]?.[1] ?? 'webhook';
  return {
    id,
    label: sourceTypeLabel(id),
    group,
    setUp: kind?.setUp ?? null,
    notes: kind?.notes ?? null,
    secretName: kind?.signature?.secretName ?? null,
    tokenName: kind?.fetch?.tokenName ?? null,
  };
}
