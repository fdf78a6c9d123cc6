import { readTagScript, readWebSnippet } from '../../../shared/web-snippet/web-snippet.ts';
import type { WebSnippet } from '../../../shared/web-snippet/web-snippet.ts';
import type { Exchange } from '../../http/exchange.ts';
import { LateCode } from '../../http/late-code.ts';
import { decodeSegment } from '../../http/request-head.ts';
import { createReply, failure, jsonReply } from '../../http/reply.ts';
import type { GetRoute } from '../../http/route.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import type { PublishedSource } from '../../ingest/published-sources.ts';
import type { PublishedContainer } from '../../ingest/published-tags.ts';
import { pathParameter, queryParameter } from '../openapi/parts.ts';

const yearS = 31_536_000;
const hourS = 3_600;

/** `GET /sluice.js`: the script of pages that track. */
export const createSnippetRoute = (): GetRoute =>
  createScriptRoute(
    { name: 'snippet', path: '/sluice.js', summary: 'The script that pages load to track events' },
    readWebSnippet(),
  );

/** `GET /sluice-tags.js`: the script that runs the container of a tag manager. */
export const createTagScriptRoute = (): GetRoute =>
  createScriptRoute(
    { name: 'tag-script', path: '/sluice-tags.js', summary: "The script that runs a source's tags" },
    readTagScript(),
  );

type ServedScript = { readonly name: string; readonly path: `/${string}`; readonly summary: string };

/** A script is served under an address with the hash of its content, and browsers may cache it for a year. */
function createScriptRoute({ name, path, summary }: ServedScript, { script, hash }: WebSnippet): GetRoute {
  const reply = (caching: string) =>
    createReply(200, Buffer.from(script), {
      headers: [
        ['content-type', 'text/javascript; charset=utf-8'],
        ['cache-control', caching],
        ['cross-origin-resource-policy', 'cross-origin'],
        ['x-content-type-options', 'nosniff'],
      ],
      isForAll: true,
    });
  const forGood = reply(`public, max-age=${yearS}, immutable`);
  // Also answers a request for another build's script: the page gets the script of this build, and requests it again
  // after an hour.
  const forNow = reply(`public, max-age=${hourS}`);
  return {
    name,
    method: 'get',
    paths: [path],
    openapi: { paths: { [path]: { get: describeScript(name, summary) } } },
    accept(exchange, _parameter, query) {
      exchange.send(new URLSearchParams(query).get('v') === hash ? forGood : forNow);
    },
  };
}

/**
 * `GET /sluice/settings/{key}`: the purposes for which a page asks its visitors' consent, and their defaults for
 * visitors who have not decided.
 */
export function createSnippetSettingsRoute(admission: Admission): GetRoute {
  return {
    name: 'snippet-settings',
    method: 'get',
    paths: ['/sluice/settings/:key'],
    openapi: { paths: { '/sluice/settings/{key}': { get: settingsDescription } } },
    accept(exchange, segment) {
      const admitted = admission.admitToken(exchange, decodeSegment(segment), 0);
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      const { consent, recording } = admitted.source;
      withContainer(exchange, admitted.source, (container) => {
        const tags = container && { container: container.hash, script: readTagScript().hash };
        const settings = { consent, now: Date.now(), ...(recording && { replay: recording }), ...(tags && { tags }) };
        exchange.send(jsonReply(200, settings, { headers: notKept }));
      });
    },
  };
}

/** `GET /sluice/container/{key}`: the tags that the pages of a source run. */
export function createContainerRoute(admission: Admission): GetRoute {
  return {
    name: 'container',
    method: 'get',
    paths: ['/sluice/container/:key'],
    openapi: { paths: { '/sluice/container/{key}': { get: containerDescription } } },
    accept(exchange, segment, query) {
      const admitted = admission.admitToken(exchange, decodeSegment(segment), 0);
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      withContainer(exchange, admitted.source, (container) => {
        if (container === undefined) return exchange.send(noContainer);
        const isItsOwn = new URLSearchParams(query).get('v') === container.hash;
        const headers = [['content-type', 'application/json'] as const, ...(isItsOwn ? keptForGood : notKept)];
        exchange.send(createReply(200, Buffer.from(container.json), { headers }));
      });
    },
  };
}

const compiler = new LateCode(() => import('../../../shared/web-snippet/tags/compile-container.ts'));

/** Calls `goOn` with the container of the request's source, or with undefined if the source has none. */
function withContainer(
  exchange: Exchange,
  { sourceId, tags }: PublishedSource,
  goOn: (container: PublishedContainer | undefined) => void,
): void {
  if (tags === undefined) return goOn(undefined);
  compiler.use(exchange, ({ containersOfSources }) => goOn(tags.containerOf(sourceId, containersOfSources)));
}

const noContainer = failure(404, 'the source has no tag manager that is published and enabled');

const keptForGood = [
  ['cache-control', `private, max-age=${yearS}, immutable`],
  ['vary', 'origin'],
] as const;

/** A browser that goes back to a page reuses what it has, however old: a wrong time, or purposes of an earlier version. */
const notKept = [['cache-control', 'no-store']] as const;

const containerDescription = {
  operationId: 'container',
  summary: "The tags that pages of a source run, for the service's own script",
  parameters: [pathParameter('key', 'Source key'), queryParameter('v')],
  responses: {
    200: {
      description: 'Variables, triggers and tags of the live version',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              variables: { type: 'object' },
              triggers: { type: 'array', items: { type: 'object' } },
              tags: { type: 'array', items: { type: 'object' } },
            },
            required: ['variables', 'triggers', 'tags'],
          },
        },
      },
    },
    401: { description: 'No such key' },
    404: { description: 'No tag manager is published for the source' },
  },
};

const describeScript = (operationId: string, summary: string) => ({
  operationId,
  summary,
  parameters: [queryParameter('v')],
  responses: { 200: { description: 'The script', content: { 'text/javascript': {} } } },
});

const settingsDescription = {
  operationId: 'snippetSettings',
  summary: 'Consent purposes, tags and recording settings of a source, for the script of its pages',
  parameters: [pathParameter('key', 'Source key')],
  responses: {
    200: {
      description: 'The settings of the live version; `granted` is the default for visitors who have not decided',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              consent: {
                type: 'array',
                items: {
                  type: 'object',
                  properties: { name: { type: 'string' }, granted: { type: 'boolean' } },
                  required: ['name', 'granted'],
                },
              },
              now: { type: 'integer', description: "The gateway's time, in ms since the epoch" },
              tags: {
                type: 'object',
                description:
                  "Versions of the source's tag container and of the script that runs it. Absent if the source has no container.",
                properties: { container: { type: 'string' }, script: { type: 'string' } },
                required: ['container', 'script'],
              },
              replay: {
                type: 'object',
                description:
                  "The account's recording settings, for a library that records sessions; this service and its script record none. Absent: sessions of the source must not be recorded.",
                properties: {
                  sampleRate: { type: 'number' },
                  maskAllText: { type: 'boolean' },
                  maskAllInputs: { type: 'boolean' },
                  blockSelectors: { type: 'array', items: { type: 'string' } },
                },
                required: ['sampleRate', 'maskAllText', 'maskAllInputs', 'blockSelectors'],
              },
            },
            required: ['consent', 'now'],
          },
        },
      },
    },
    401: { description: 'No such key' },
  },
};
