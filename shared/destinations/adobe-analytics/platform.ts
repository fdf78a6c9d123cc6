import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { currencyCode, someText, webAddress } from '../sdk/platform-schemas.ts';

const visitor = Type.Union([
  Type.Object({ vid: Type.String({ pattern: '^[A-Za-z0-9]{1,100}$' }) }),
  Type.Object({ aid: someText }),
  Type.Object({ mid: someText }),
  Type.Object({ fid: someText }),
]);

const place = Type.Union([
  Type.Object({ pageName: someText }),
  Type.Object({ g: webAddress }),
  Type.Object({ pe: Type.Enum(['lnk_d', 'lnk_e', 'lnk_o']), pev2: someText }),
]);

const own = String.raw`(;(event\d+=[\d.]+(\|event\d+=[\d.]+)*)?(;eVar\d+=[^;,|]+(\|eVar\d+=[^;,|]+)*)?)?`;
/** A product: https://experienceleague.adobe.com/docs/analytics/implementation/vars/page-vars/products.html */
const product = String.raw`[^;,]*;[^;,]*;[0-9]+;[0-9.]*${own}`;

const hit = Type.Object({
  AQB: Type.Literal('1'),
  AQE: Type.Literal('1'),
  ts: Type.Optional(Type.String({ pattern: String.raw`^\d{10}$` })),
  cc: Type.Optional(currencyCode),
  events: Type.Optional(
    Type.String({ pattern: '^(prodView|sc(Open|View|Add|Remove|Checkout)|purchase|event[0-9]{1,4})(,[^,]+)*$' }),
  ),
  products: Type.Optional(Type.String({ pattern: `^${product}(,${product})*$` })),
  purchaseID: Type.Optional(Type.String({ maxLength: 20 })),
  pe: Type.Optional(Type.Enum(['lnk_d', 'lnk_e', 'lnk_o'])),
});

const failure = (reason: string) => ({ status: 204, headers: { status: 'FAILURE', reason } });

/**
 * Adobe's Data Insertion API: a request has a query string as its body, a response has no body. There are no
 * credentials: any client that knows a report suite ID may send to that report suite.
 * https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/response-types
 */
export const adobeAnalyticsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/b/ss/{reportSuites}/2/{number}',
      credentials: noCredentials,
      headers: { 'content-type': /^application\/x-www-form-urlencoded$/ },
      content: 'form',
      parse: readHit,
      body: Type.Intersect([hit, visitor, place]),
    },
  ],
  answers: {
    success: () => ({ status: 204, headers: { status: 'SUCCESS' } }),
    refusal: ({ field }) => failure(reasons[field] ?? 'Syntax error'),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});

const reasons: Readonly<Record<string, string>> = {
  vid: 'NO visitorid OR ipaddress',
  pageName: 'NO pagename OR pageurl',
};

/**
 * The variables of a hit by name, with the context data (between `c.` and `.c` in the body) under `c.`. Undefined
 * without the delimiters `AQB` and `AQE`.
 */
function readHit(body: string): unknown {
  const variables: Record<string, unknown> = {};
  let contextData: Record<string, string> | undefined;
  for (const [name, value] of new URLSearchParams(body)) {
    if (name === 'c.') contextData = {};
    else if (name === '.c') {
      variables['c.'] = contextData;
      contextData = undefined;
    } else (contextData ?? variables)[name] = value;
  }
  return variables['AQB'] === '1' && variables['AQE'] === '1' ? variables : undefined;
}
