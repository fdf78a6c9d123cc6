import type { PublishedDestination } from './published-destinations.ts';

/** Maximum number of remembered answers; senders use few different values. */
const rememberedMax = 1_000;

/**
 * Compiles a check of whether an event's sender allows this destination (`integrations` of Segment's and RudderStack's
 * libraries): `false` excludes it, by the destination's name, its kind or a name that other services give the platform,
 * and `All: false` excludes every destination that is not named. Names match without case, spaces, punctuation and text
 * in parentheses.
 */
export function compileIntegrations(
  { name, type }: Pick<PublishedDestination, 'name' | 'type'>,
  namesElsewhere: readonly string[],
): (integrationsJson: string) => boolean {
  const own = new Set([name, type, ...namesElsewhere].map(plainName));
  own.delete('');
  const answers = new Map<string, boolean>();
  return (json) => {
    const known = answers.get(json);
    if (known !== undefined) return known;
    const answer = isWanted(own, JSON.parse(json) as Readonly<Record<string, boolean>>);
    if (answers.size >= rememberedMax) answers.clear();
    answers.set(json, answer);
    return answer;
  };
}

function isWanted(own: ReadonlySet<string>, integrations: Readonly<Record<string, boolean>>): boolean {
  let named: boolean | undefined;
  let all = true;
  for (const [name, wanted] of Object.entries(integrations)) {
    const plain = plainName(name);
    if (own.has(plain)) named = (named ?? true) && wanted;
    else if (plain === 'all') all = wanted;
  }
  return named ?? all;
}

/** `Google Analytics 4 (Actions)` and `google-analytics-4` are one name. */
const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
