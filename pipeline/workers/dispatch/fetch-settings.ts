import type { Static, TObject } from 'typebox';
import { graphApi } from '../../../shared/destinations/facebook/graph-api.ts';
import { text } from '../../../shared/runtime/variables.ts';

/** Where what notices point to is fetched, by the type of the source; the provider's own address for the others. */
export type FetchUrls = Readonly<Record<string, string>>;

export const fetchEnv = {
  FACEBOOK_GRAPH_URL: text('Where leads of Facebook Lead Ads are fetched: the Graph API, or a proxy before it', {
    default: graphApi.url,
    pattern: String.raw`^https?://[^\s/?#]+(/[^\s?#]*[^\s/?#])?$`,
    mustBe: 'an http or https URL without a slash at its end',
  }),
};

export function readFetchUrls(env: Static<TObject<typeof fetchEnv>>): FetchUrls {
  return { FacebookLeadAds: env.FACEBOOK_GRAPH_URL };
}
