import { Type } from 'typebox';
import type { Static } from 'typebox';
import { sourceLabel } from '../../shared/collections/kind-labels.ts';
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
    Type.String({
      description: "The provider's name for the secret in `signingSecret`; null if it does not sign requests.",
    }),
  ),
  tokenName: nullable(
    Type.String({
      description: "The provider's name for the token in `accessToken`; null if nothing is fetched from it.",
    }),
  ),
});

type SourceType = Static<typeof sourceTypeReply>;

/** The groups of the source types that are not webhooks of a provider. */
const ownGroups: Readonly<Record<string, SourceType['group']>> = {
  WebSource: 'page',
  PixelImage: 'page',
  RedirectSource: 'page',
  iOSNativeApi: 'app',
  AndroidNativeApi: 'app',
  ReactNativeApi: 'app',
  HTTPApiSource: 'server',
  NodejsApi: 'server',
  PythonApi: 'server',
  GoLangApi: 'server',
  RubyApi: 'server',
  PHPApi: 'server',
  DotNetApi: 'server',
  CSharpApi: 'server',
  KotlinApi: 'server',
};

/** Every type a source may have, in the order of the console: by group, then by label. */
export function describeSourceTypes(): readonly SourceType[] {
  return sourceTypes
    .map(describe)
    .toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.label.localeCompare(b.label));
}

function describe(id: string): SourceType {
  const kind = findSourceKind(id);
  const group = ownGroups[id] ?? 'webhook';
  return {
    id,
    label: sourceLabel(id),
    group,
    setUp: kind?.setUp ?? null,
    notes: kind?.notes ?? null,
    secretName: kind?.signature?.secretName ?? null,
    tokenName: kind?.fetch?.tokenName ?? null,
  };
}
