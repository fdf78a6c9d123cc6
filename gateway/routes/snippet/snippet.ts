import { readWebSnippet } from '../../../shared/web-snippet/web-snippet.ts';
import { decodeSegment } from '../../http/request-head.ts';
import { createReply, jsonReply, keptBriefly } from '../../http/reply.ts';
import type { GetRoute } from '../../http/route.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import { pathParameter, queryParameter } from '../openapi/parts.ts';

const yearS = 31_536_000;
const hourS = 3_600;

/** `GET /sluice.js`: the script of pages that track. Under the hash of what it says it is kept for good. */
export function createSnippetRoute(): GetRoute {
  const { script, hash } = readWebSnippet();
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
  // Also where the page asks for the script of another build: it gets this one, and asks again.
  const forNow = reply(`public, max-age=${hourS}`);
  return {
    name: 'snippet',
    method: 'get',
    paths: ['/sluice.js'],
    openapi: { paths: { '/sluice.js': { get: scriptDescription } } },
    accept(exchange, _parameter, query) {
      exchange.send(new URLSearchParams(query).get('v') === hash ? forGood : forNow);
    },
  };
}

/** `GET /sluice/settings/{key}`: for what purposes a page asks its visitors, and what holds for those who have not decided. */
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
      exchange.send(jsonReply(200, { consent, ...(recording && { replay: recording }) }, { headers: keptBriefly }));
    },
  };
}

const scriptDescription = {
  operationId: 'snippet',
  summary: 'The script of pages that track',
  parameters: [queryParameter('v')],
  responses: { 200: { description: 'The script', content: { 'text/javascript': {} } } },
};

const settingsDescription = {
  operationId: 'snippetSettings',
  summary: 'What the script of a page has to know of its source',
  parameters: [pathParameter('key', 'Source key')],
  responses: {
    200: {
      description: 'The purposes of the live version, and what holds for visitors who have not decided',
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
              replay: {
                type: 'object',
                description:
                  "The account's replay setting, for a library that records sessions: this service and its script record none. Absent: sessions of the source are not to be recorded.",
                properties: {
                  sampleRate: { type: 'number' },
                  maskAllText: { type: 'boolean' },
                  maskAllInputs: { type: 'boolean' },
                  blockSelectors: { type: 'array', items: { type: 'string' } },
                },
                required: ['sampleRate', 'maskAllText', 'maskAllInputs', 'blockSelectors'],
              },
            },
            required: ['consent'],
          },
        },
      },
    },
    401: { description: 'No such key' },
  },
};
