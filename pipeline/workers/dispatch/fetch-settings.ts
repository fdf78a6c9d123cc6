import { graphApi } from '../../../shared/destinations/facebook/graph-api.ts';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { text } from '../../../shared/runtime/variables.ts';

/** Base URLs for fetching the content of notices, by type of source. Default: the provider's own. */
export type FetchUrls = Readonly<Record<string, string>>;

export const { variables: fetchEnv, read: readFetchUrls } = defineSettings({
  FacebookLeadAds: fromEnv({
    FACEBOOK_GRAPH_URL: text('Where leads of Facebook Lead Ads are fetched: the Graph API, or a proxy in front of it', {
      default: graphApi.url,
      pattern: String.raw`^https?://[^\s/?#]+(/[^\s?#]*[^\s/?#])?$`,
      mustBe: 'an http or https URL without a slash at its end',
    }),
  }),
});
