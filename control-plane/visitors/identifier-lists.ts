import { isPlaceholder } from '../../shared/contracts/events/placeholder-identifier.ts';
import { cleanEmail, cleanText, storedIdentity } from '../../shared/visitors/visitor-identity.ts';
import type { Identifier } from '../../shared/visitors/visitor-identity.ts';

/** The lists of a request, and the kind of identifier in each list. */
export const lists = {
  userIds: { kind: 'visitor', name: 'userId', clean: cleanText, charactersMax: 400 },
  externalIds: { kind: 'external_id', name: 'externalId', clean: cleanText, charactersMax: 400 },
  emails: { kind: 'email', name: 'email', clean: cleanEmail, charactersMax: 1_000 },
} as const;

export type ListName = keyof typeof lists;

export const listNames = Object.keys(lists) as readonly ListName[];

/** Identifiers that one request may have, over its lists. */
export const identifiersMax = 5_000;

/** The identifier in an item of a list; undefined for placeholders such as "null". */
export function identifierOf(name: ListName, text: string): Identifier | undefined {
  const { kind, clean } = lists[name];
  const value = clean(text);
  if (value === undefined || isPlaceholder(value)) return undefined;
  return { kind, value: kind === 'visitor' ? value : storedIdentity(value) };
}
