/** Code that sends a first event with one library. */
export type Snippet = { readonly id: string; readonly label: string; readonly parts: readonly SnippetPart[] };

export type SnippetPart = { readonly title: string; readonly text: string };

export type SnippetFor = {
  /** Id and group of the source's type. */
  readonly type: string;
  readonly group: string;
  readonly sourceId: string;
  /** Address of the gateways, without a slash at its end. */
  readonly ingestUrl: string;
  readonly key: string;
  /** The tags of a page; null if the source is not a web site. */
  readonly installScript: string | null;
};

/** The ways to send to a source, the usual one first. They contain no user text, so nothing is escaped. */
export function snippetsFor(source: SnippetFor): readonly Snippet[] {
  const { type, group } = source;
  if (type === 'PixelImage') return [pixel(source)];
  if (type === 'RedirectSource') return [shortLink(source)];
  if (group === 'page') return [page(source), segmentPage(source), rudderPage(source), posthogPage(source)];
  if (group === 'app') return [curl(source), segmentApp(source), rudderApp(source), posthogApp(source)];
  if (group === 'webhook') return [webhook(source)];
  const servers = [curl(source), node(source), python(source)];
  const own = servers.filter(({ id }) => type.startsWith(id === 'node' ? 'Nodejs' : id === 'python' ? 'Python' : ' '));
  const libraries = [segmentServer(source), rudderServer(source), posthogServer(source)];
  return [...own, ...servers.filter((one) => !own.includes(one)), ...libraries];
}

/** The address of a webhook. */
export const webhookUrl = ({ ingestUrl, key }: Pick<SnippetFor, 'ingestUrl' | 'key'>): string =>
  `${ingestUrl}/webhook/${key}`;

const order = { event: 'Order Completed', externalId: 'customer-42', properties: { order_id: 'A-1001', total: 42.5 } };

const one = (id: string, label: string, ...parts: SnippetPart[]): Snippet => ({ id, label, parts });

function page({ installScript, ingestUrl, key }: SnippetFor): Snippet {
  const tags = installScript ?? `<script async src="${ingestUrl}/sluice.js" data-key="${key}"></script>`;
  return one(
    'page',
    'Web page',
    { title: 'In the head of every page', text: tags },
    {
      title: 'Where something happens',
      text: [
        '// page views are sent automatically',
        "sluice('track', 'Order Completed', { order_id: 'A-1001', total: 42.5, currency: 'EUR' });",
        '// once you know the customer',
        "sluice('identify', 'customer-42', { email: 'ada@example.com' });",
      ].join('\n'),
    },
  );
}

function curl({ ingestUrl, key }: SnippetFor): Snippet {
  const body = JSON.stringify({ token: key, ...order }, undefined, 2);
  return one('curl', 'curl', {
    title: 'In a shell',
    text: `curl "${ingestUrl}/api/v1/track" -H 'content-type: application/json' -d '${body}'`,
  });
}

function node({ ingestUrl, key }: SnippetFor): Snippet {
  const body = JSON.stringify({ token: key, ...order }, undefined, 4).replaceAll('\n', '\n  ');
  return one('node', 'Node.js', {
    title: 'Node.js 18 or newer',
    text: [
      `const answer = await fetch('${ingestUrl}/api/v1/track', {`,
      "  method: 'POST',",
      "  headers: { 'content-type': 'application/json' },",
      `  body: JSON.stringify(${body}),`,
      '});',
      'console.log(answer.status, await answer.text());',
    ].join('\n'),
  });
}

function python({ ingestUrl, key }: SnippetFor): Snippet {
  const body = JSON.stringify({ token: key, ...order }, undefined, 4).replaceAll('\n', '\n    ');
  return one('python', 'Python', {
    title: 'Python 3',
    text: [
      'import json, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${ingestUrl}/api/v1/track",`,
      `    json.dumps(${body}).encode(),`,
      '    {"content-type": "application/json"},',
      ')',
      'print(urllib.request.urlopen(request).read())',
    ].join('\n'),
  });
}

function segmentPage({ ingestUrl, key }: SnippetFor): Snippet {
  return one('segment', 'Segment', {
    title: '@segment/analytics-next',
    text: [
      "import { AnalyticsBrowser } from '@segment/analytics-next';",
      '',
      `const analytics = AnalyticsBrowser.load({ writeKey: '${key}', cdnURL: '${ingestUrl}' });`,
      "analytics.track('Order Completed', { order_id: 'A-1001', total: 42.5 });",
    ].join('\n'),
  });
}

function rudderPage({ ingestUrl, key }: SnippetFor): Snippet {
  return one('rudderstack', 'RudderStack', {
    title: '@rudderstack/analytics-js',
    text: [
      "import { RudderAnalytics } from '@rudderstack/analytics-js';",
      '',
      'const analytics = new RudderAnalytics();',
      `analytics.load('${key}', '${ingestUrl}', { configUrl: '${ingestUrl}' });`,
      "analytics.track('Order Completed', { order_id: 'A-1001', total: 42.5 });",
    ].join('\n'),
  });
}

function posthogPage({ ingestUrl, key }: SnippetFor): Snippet {
  return one('posthog', 'PostHog', {
    title: 'posthog-js',
    text: [
      "import posthog from 'posthog-js';",
      '',
      `posthog.init('${key}', { api_host: '${ingestUrl}' });`,
      "posthog.capture('Order Completed', { order_id: 'A-1001', total: 42.5 });",
    ].join('\n'),
  });
}

function segmentServer({ ingestUrl, key }: SnippetFor): Snippet {
  return one(
    'segment',
    'Segment',
    {
      title: '@segment/analytics-node',
      text: [
        "import { Analytics } from '@segment/analytics-node';",
        '',
        `const analytics = new Analytics({ writeKey: '${key}', host: '${ingestUrl}' });`,
        "analytics.track({ userId: 'customer-42', event: 'Order Completed', properties: { total: 42.5 } });",
      ].join('\n'),
    },
    {
      title: 'segment-analytics-python',
      text: [
        'import segment.analytics as analytics',
        '',
        `analytics.write_key = "${key}"`,
        `analytics.host = "${ingestUrl}"`,
        'analytics.track("customer-42", "Order Completed", {"total": 42.5})',
      ].join('\n'),
    },
  );
}

function rudderServer({ ingestUrl, key }: SnippetFor): Snippet {
  return one(
    'rudderstack',
    'RudderStack',
    {
      title: '@rudderstack/rudder-sdk-node',
      text: [
        "import Analytics from '@rudderstack/rudder-sdk-node';",
        '',
        `const analytics = new Analytics('${key}', { dataPlaneUrl: '${ingestUrl}' });`,
        "analytics.track({ userId: 'customer-42', event: 'Order Completed', properties: { total: 42.5 } });",
      ].join('\n'),
    },
    {
      title: 'rudder-sdk-python',
      text: [
        'import rudderstack.analytics as rudder_analytics',
        '',
        `rudder_analytics.write_key = "${key}"`,
        `rudder_analytics.dataPlaneUrl = "${ingestUrl}"`,
        'rudder_analytics.track("customer-42", "Order Completed", {"total": 42.5})',
      ].join('\n'),
    },
  );
}

function posthogServer({ ingestUrl, key }: SnippetFor): Snippet {
  return one('posthog', 'PostHog', {
    title: 'posthog-node',
    text: [
      "import { PostHog } from 'posthog-node';",
      '',
      `const posthog = new PostHog('${key}', { host: '${ingestUrl}' });`,
      "posthog.capture({ distinctId: 'customer-42', event: 'Order Completed', properties: { total: 42.5 } });",
      'await posthog.shutdown();',
    ].join('\n'),
  });
}

function settings(rows: readonly (readonly [name: string, value: string])[]): string {
  return rows.map(([name, value]) => `${name}: ${value}`).join('\n');
}

function segmentApp({ ingestUrl, key }: SnippetFor): Snippet {
  const { host } = new URL(ingestUrl);
  return one('segment', 'Segment', {
    title: 'Settings of the mobile library',
    text: settings([
      ['writeKey', key],
      ['apiHost', `${host}/v1`],
      ['cdnHost', `${host}/v1`],
    ]),
  });
}

function rudderApp({ ingestUrl, key }: SnippetFor): Snippet {
  return one('rudderstack', 'RudderStack', {
    title: 'Settings of the mobile library',
    text: settings([
      ['writeKey', key],
      ['dataPlaneUrl', ingestUrl],
      ['controlPlaneUrl', ingestUrl],
    ]),
  });
}

function posthogApp({ ingestUrl, key }: SnippetFor): Snippet {
  return one('posthog', 'PostHog', {
    title: 'Settings of the mobile library',
    text: settings([
      ['apiKey', key],
      ['host', ingestUrl],
    ]),
  });
}

function pixel({ ingestUrl, key }: SnippetFor): Snippet {
  return one('pixel', 'Pixel', {
    title: 'In an e-mail or a page',
    text: `<img src="${ingestUrl}/pixel/${key}.gif?event=Mail%20Opened&email=ada@example.com" width="1" height="1" alt="">`,
  });
}

function shortLink({ ingestUrl, sourceId }: SnippetFor): Snippet {
  return one('link', 'Short link', {
    title: 'The link',
    text: `${ingestUrl}/redirect/${sourceId}`,
  });
}

function webhook(source: SnippetFor): Snippet {
  const body = JSON.stringify({ event: 'Order Packed', email: 'ada@example.com', order_id: 'A-1001' });
  return one('curl', 'curl', {
    title: 'Try it from a shell',
    text: `curl "${webhookUrl(source)}" -H 'content-type: application/json' -d '${body}'`,
  });
}
