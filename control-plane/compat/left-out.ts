/**
 * Features of the platform library that Sluice does not have, by the first path segment after `/rest/v1`. Each text
 * begins the sentence of the error.
 */
const leftOut: ReadonlyMap<string, string> = new Map([
  ['attribution', 'Attribution reports are'],
  ['audience-conversion-reports', 'Audience reports are'],
  ['consent-analytics', 'Consent statistics are'],
  ['conversion-journey-summaries', 'Journey summaries are'],
  ['funnels', 'Funnels are'],
  ['heatmap-pages', 'Heatmaps are'],
  ['locations', 'Locations are'],
  ['short-links', 'Short links with their own statistics are'],
  ['tag-manager-asset-folders', 'Tag manager folders are'],
  ['tag-manager-folders', 'Tag manager folders are'],
  ['video-channels', 'Video channels are'],
  ['videos', 'Videos are'],
  ['web-scanner-rules', 'Web scanners are'],
  ['web-scanners', 'Web scanners are'],
]);

/** Resources that Sluice has only in its own shape, with the collection that holds them. */
const ownShape: ReadonlyMap<string, string> = new Map([
  ['replay-settings', 'replaySettings'],
  ['tag-manager-tags', 'tagManagerTags'],
  ['tag-manager-triggers', 'tagManagerTriggers'],
  ['tag-manager-variables', 'tagManagerVariables'],
  ['tag-managers', 'tagManagers'],
]);

/** Why an address of the platform library is not served, as a sentence; undefined for any other address. */
export function whyLeftOut(url: string): string | undefined {
  const [, rest, version, resource = '', , part] = url.split('?', 1)[0]?.split('/') ?? [];
  if (rest !== 'rest' || version !== 'v1') return undefined;
  if (resource === 'consent-settings' && part !== undefined) return 'Consent statistics are not part of Sluice';
  if (resource === 'experiments' && part === 'session-replays') return 'Session recordings are not part of Sluice';
  const what = leftOut.get(resource);
  if (what !== undefined) return `${what} not part of Sluice`;
  const collection = ownShape.get(resource);
  return collection === undefined
    ? undefined
    : `The shape of ${resource} is not part of Sluice, which has its own at /rest/v1/collections/${collection}`;
}
