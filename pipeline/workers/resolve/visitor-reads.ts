import type { LiveConfig } from '../../../shared/collections/read-live-collections.ts';
import { SecretError, isSealed, settingContext } from '../../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../../shared/contracts/config/secrets.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';

/** The visitor properties that rules, mappings and templates of a live version read. */
export type VisitorReads = {
  /** Whether they read every property, or every custom property, of a visitor. */
  readonly isAll: boolean;
  readonly own: ReadonlySet<string>;
  readonly custom: ReadonlySet<string>;
};

export const noReads: VisitorReads = { isAll: false, own: new Set(), custom: new Set() };

type ReadConfig = Pick<LiveConfig, 'accountId'> & {
  readonly collections: Readonly<Record<string, readonly unknown[]>>;
};

/**
 * Finds the visitor properties that a live version reads. Every text in it counts, wherever it stands, if it is a path
 * or has paths in double braces, so that a new kind of rule cannot be forgotten. Secret settings are decrypted for
 * this.
 */
export function findVisitorReads(
  { accountId, collections }: ReadConfig,
  secrets: Pick<SecretBox, 'open'>,
): VisitorReads {
  const found = { isAll: false, own: new Set<string>(), custom: new Set<string>() };
  if ((collections['consentSettings'] ?? []).length > 0) for (const name of consentReads) found.own.add(name);
  for (const [name, entities] of Object.entries(collections)) {
    for (const entity of entities) {
      const open = (key: string, text: string): string => openSetting(secrets, accountId, entity, key, text);
      for (const text of textsOf(entity, name === 'destinations' ? open : (_key, sealed) => sealed, '')) {
        for (const path of pathsOf(text)) addPath(found, path);
      }
    }
  }
  return found;
}

/** Properties that decide about consent. */
const consentReads = ['consent', 'country', 'state'];

type OpenText = (key: string, text: string) => string;

function* textsOf(value: unknown, open: OpenText, key: string): Generator<string> {
  if (typeof value === 'string') yield isSealed(value) ? open(key, value) : value;
  else if (Array.isArray(value)) for (const item of value) yield* textsOf(item, open, key);
  else if (isJsonObject(value)) for (const [name, member] of Object.entries(value)) yield* textsOf(member, open, name);
}

/** A destination whose secrets cannot be opened sends nothing, so it reads nothing. */
function openSetting(
  secrets: Pick<SecretBox, 'open'>,
  accountId: string,
  entity: unknown,
  key: string,
  sealed: string,
): string {
  const id = isJsonObject(entity) ? String(entity['id']) : '';
  try {
    return secrets.open(sealed, settingContext(accountId, id, key));
  } catch (error) {
    if (error instanceof SecretError) return '';
    throw error;
  }
}

const placeholder = /\{\{([^{}]*)\}\}/g;

/** The paths in a text's double braces; if it has no braces, the text itself. */
function pathsOf(text: string): readonly string[] {
  return text.includes('{{') ? [...text.matchAll(placeholder)].map(([, path = '']) => path) : [text];
}

/** Records what a path reads. As in `compilePropertyPath`, a property's name may contain dots. */
function addPath(
  found: { isAll: boolean; readonly own: Set<string>; readonly custom: Set<string> },
  path: string,
): void {
  const [root, first, ...rest] = path.trim().replace(/^\$/, '').split('.');
  if (root !== 'visitor') return;
  const [second] = rest;
  if (first === undefined || (first === 'custom_properties' && second === undefined)) {
    found.isAll = true;
    return;
  }
  found.own.add(first).add([first, ...rest].join('.'));
  if (first === 'custom_properties' && second !== undefined) found.custom.add(second).add(rest.join('.'));
}
