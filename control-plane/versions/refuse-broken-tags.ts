import { isDeepStrictEqual } from 'node:util';
import { consentSettings } from '../../shared/collections/consent-settings.ts';
import { readLiveCollections } from '../../shared/collections/read-live-collections.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import {
  tagManagerTags,
  tagManagerTriggers,
  tagManagerVariables,
  tagManagers,
} from '../../shared/collections/tag-managers.ts';
import { containerProblems } from '../../shared/web-snippet/tags/compile-container.ts';
import { badRequest } from '../api/api-error.ts';

const read = [tagManagers, tagManagerTags, tagManagerTriggers, tagManagerVariables, consentSettings] as const;

/** Throws a 400 for a tag manager that pages could not run, unless it is live unchanged. */
export function refuseBrokenTags(content: Snapshot, live: Snapshot): void {
  if (read.every(({ name }) => isDeepStrictEqual(content[name], live[name]))) return;
  const known = new Set(problemsOf(live));
  const [first, ...others] = problemsOf(content).filter((problem) => !known.has(problem));
  if (first === undefined) return;
  const more = others.length === 0 ? undefined : others.slice(0, shownMax).join('; ');
  throw badRequest(`${first}, so it cannot be published`, more);
}

const shownMax = 10;

function problemsOf(snapshot: Snapshot): readonly string[] {
  const document = {
    format: 1,
    accountId: '',
    versionId: '',
    versionNumber: 0,
    publishedAt: '',
    sourceKeys: [],
  } as const;
  return containerProblems(readLiveCollections({ ...document, collections: snapshot }, read).collections);
}
