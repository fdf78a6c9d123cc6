import { Type } from 'typebox';
import { findSourceKind } from '../../shared/sources/registry.ts';
import { installScript } from '../../shared/web-snippet/web-snippet.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { revealTokens } from '../sources/reveal-tokens.ts';
import { ingestUrl } from '../sources/ingest-url.ts';

const keys = {
  token: Type.String(),
  testToken: Type.String({ description: 'Events sent with it are validated and never dispatched.' }),
};

const reply = Type.Union([
  Type.Object({
    sourceType: Type.Literal('pixel'),
    ...keys,
    installScript: Type.String({ description: 'Paste this into pages.' }),
    testInstallScript: Type.String(),
  }),
  Type.Object({
    sourceType: Type.Literal('webhook'),
    ...keys,
    ingestUrl: Type.String({ description: 'The address that receives events.' }),
    testIngestUrl: Type.String(),
    sampleCurl: Type.String({ description: 'A command that sends one event.' }),
  }),
]);

/**
 * A source's keys in the two forms that the platform library expects: a script for pages, and an address for requests.
 */
export const getSourceTokens = defineEndpoint({
  client: 'platform-library',
  method: 'GET',
  path: '/rest/v1/sources/{id}/tokens',
  scope: 'source:tokens',
  id: 'libraryGetSourceTokens',
  uses: { ingestUrl },
  tag: 'Sources',
  summary: 'The keys of a source, and a sample request',
  reply,
  async handle({ params, principal }, services) {
    const { row, tokens } = await revealTokens(services, principal, params.id);
    return { ...tokens, ...waysOf(String(row.body['type']), services.ingestUrl.replace(/\/+$/, ''), tokens) };
  },
});

function waysOf(
  type: string,
  ingestUrl: string,
  { token, testToken }: { readonly token: string; readonly testToken: string },
) {
  if (type === 'WebSource') {
    return {
      sourceType: 'pixel',
      installScript: installScript(ingestUrl, token),
      testInstallScript: installScript(ingestUrl, testToken),
    };
  }
  if (type === 'PixelImage') {
    const image = (key: string): string =>
      `<img src="${ingestUrl}/pixel/${key}.gif?event=page_view" width="1" height="1" alt="">`;
    return { sourceType: 'pixel', installScript: image(token), testInstallScript: image(testToken) };
  }
  const { urlOf, sample } = type === 'RedirectSource' ? redirect(ingestUrl) : posted(type, ingestUrl);
  return { sourceType: 'webhook', ingestUrl: urlOf(token), testIngestUrl: urlOf(testToken), sampleCurl: sample(token) };
}

type Way = { urlOf(key: string): string; sample(key: string): string };

function redirect(ingestUrl: string): Way {
  const urlOf = (key: string): string => `${ingestUrl}/redirect/${key}`;
  return { urlOf, sample: (key) => `curl -i '${urlOf(key)}'` };
}

/**
 * Target of POST requests: the webhook address if the source is a webhook, else a track event that contains the key.
 */
function posted(type: string, ingestUrl: string): Way {
  const isWebhook = type === 'Webhook' || findSourceKind(type) !== undefined;
  const urlOf = (key: string): string => (isWebhook ? `${ingestUrl}/webhook/${key}` : `${ingestUrl}/api/v1/track`);
  return {
    urlOf,
    sample(key) {
      const properties = { plan: 'basic' };
      const body = isWebhook ? properties : { token: key, event: 'Test event', eventProperties: properties };
      return `curl -X POST '${urlOf(key)}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
    },
  };
}
