import { textOf } from '../contracts/config/define-collection.ts';
import { findDestinationKind } from '../destinations/registry.ts';
import type { JsonObject } from '../runtime/json.ts';
import { findSourceKind } from '../sources/registry.ts';

/** Types of sources whose requests have Sluice's own format, or that of a supported library. */
const ownSourceLabels: Readonly<Record<string, string>> = {
  WebSource: 'Web site',
  PixelImage: 'Pixel',
  RedirectSource: 'Short link',
  iOSNativeApi: 'iOS app',
  AndroidNativeApi: 'Android app',
  ReactNativeApi: 'React Native app',
  HTTPApiSource: 'HTTP API',
  NodejsApi: 'Node.js',
  PythonApi: 'Python',
  GoLangApi: 'Go',
  RubyApi: 'Ruby',
  PHPApi: 'PHP',
  DotNetApi: '.NET',
  CSharpApi: 'C#',
  KotlinApi: 'Kotlin',
  Webhook: 'Webhook with any JSON',
};

/** The display name of a source type; its id if this build does not know the type. */
export function sourceLabel(type: string): string {
  return ownSourceLabels[type] ?? findSourceKind(type)?.label ?? type;
}

/** The display name of a destination type; its id if this build does not know the type. */
export function destinationLabel(type: string): string {
  return findDestinationKind(type)?.descriptor.label ?? type;
}

/** The display name of the type of a source or a destination; undefined for other entities. */
export function kindLabel(collection: string, type: unknown): string | undefined {
  if (typeof type !== 'string') return undefined;
  if (collection === 'destinations') return destinationLabel(type);
  return collection === 'sources' ? sourceLabel(type) : undefined;
}

/** Display name of an entity: its name, or else the name of its type; empty if it has neither. */
export function entityName(collection: string, entity: JsonObject): string {
  return textOf(entity['name']) || (kindLabel(collection, entity['type']) ?? '');
}
