import { useEffect, useState } from 'react';
import { hasScope, useAccounts } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { DestinationType, FoundEntity } from '../api/types.ts';
import { findKinds } from '../destinations/find-kinds.ts';
import { places as pages } from '../shell/places.ts';
import type { FoundPlace } from './use-docs.ts';
import { useDocs } from './use-docs.ts';

/** Maximum number of results of one group. */
const shownMax = 6;
const pauseMs = 150;

/** Matches that the key may see: pages first, then configuration, kinds, people and events, documentation. */
export function useFound(text: string): {
  readonly places: readonly FoundPlace[];
  readonly error: unknown;
  readonly isSearching: boolean;
} {
  const { current } = useAccounts();
  const may = (scope: string): boolean => current !== undefined && hasScope(current.scopes, scope);
  const typed = useSettled(text.trim());
  const isAsked = typed !== '';
  const configured = useRead<{ readonly entities: readonly FoundEntity[] }>(
    `/search?query=${encodeURIComponent(typed)}`,
    { enabled: isAsked },
  );
  const kinds = useRead<{ readonly entities: readonly DestinationType[] }>('/destinations/types', {
    enabled: isAsked && may('destination:list'),
  });
  // Ids and e-mail addresses are not searched in the documentation.
  const docs = useDocs(/@|\d{3,}|-\d/.test(typed) ? '' : typed);
  const pagesFound = pages
    .flatMap((group) => group.places)
    .filter(({ label, scope }) => may(scope) && label.toLowerCase().includes(typed.toLowerCase()))
    .map(({ label, to }) => ({ label, to, what: 'Page' }));
  if (!isAsked) return { places: [], error: undefined, isSearching: false };
  const groups: readonly (readonly FoundPlace[])[] = [
    pagesFound,
    (configured.data?.entities ?? []).flatMap(placeOf),
    findKinds(kinds.data?.entities ?? [], typed).map(({ id, label }) => ({
      label,
      what: 'Add a destination of this kind',
      to: `/destinations/new?kind=${id}`,
    })),
    lookUps(typed, may),
    docs.found,
  ];
  return {
    places: groups.flatMap((group) => group.slice(0, shownMax)),
    error: configured.error ?? kinds.error ?? docs.error,
    isSearching: configured.isFetching || kinds.isFetching || docs.isLoading || typed !== text.trim(),
  };
}

/** By collection: the label of its entities, and the path of their pages up to the id. */
const entityPages: Readonly<Record<string, readonly [what: string, path: string]>> = {
  destinations: ['Destination', '/destinations/'],
  sources: ['Source', '/sources/'],
  mappings: ['Mapping', '/rules/mappings/'],
  allowedEvents: ['Allowed event', '/rules/events/'],
  consentSettings: ['Consent purpose', '/rules/purposes/'],
  experiments: ['Experiment', '/experiments/'],
  dataGovernanceEvents: ['Planned event', '/tracking-plan/events/'],
  dataGovernanceRules: ['Tracking plan rule', '/tracking-plan/rules/'],
};

function placeOf({ collection, id, name, label }: FoundEntity): readonly FoundPlace[] {
  const page = entityPages[collection];
  if (page === undefined) return [];
  const [what, path] = page;
  return [{ label: name, what: label === null ? what : `${what}, ${label}`, to: path + encodeURIComponent(id) }];
}

/** Places that look up a visitor or an event only when chosen, because the audit records each such read. */
function lookUps(typed: string, may: (scope: string) => boolean): readonly FoundPlace[] {
  const value = encodeURIComponent(typed);
  const isEmail = typed.includes('@');
  const visitor = (by: string, words: string): FoundPlace => ({
    label: `${words} ${typed}`,
    what: 'Find a visitor',
    to: `/visitors?by=${by}&is=${value}&find=1`,
  });
  const visitors = isEmail
    ? [visitor('email', 'Visitor with the e-mail address')]
    : [visitor('externalId', 'Visitor with the external id'), visitor('userId', 'Visitor with the user id')];
  const isId = !isEmail && /^\S{4,}$/.test(typed);
  return [
    ...(may('visitor:find') ? visitors : []),
    ...(may('event:list') && isId
      ? [{ label: `Event with the id ${typed}`, what: 'Find an event', to: `/events/${value}` }]
      : []),
  ];
}

/** `text` as it was when it last stayed unchanged for `pauseMs`; an empty text is returned immediately. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : settled;
}
