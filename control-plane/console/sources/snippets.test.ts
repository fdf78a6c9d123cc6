import { expect, test } from 'vitest';
import { snippetsFor } from './snippets.ts';

const source = { sourceId: 'src-1', ingestUrl: 'https://ingest.example.com', key: 'src_live_k', installScript: null };

test.each([
  ['WebSource', 'page', ['page', 'segment', 'rudderstack', 'posthog']],
  ['PixelImage', 'page', ['pixel']],
  ['RedirectSource', 'page', ['link']],
  ['iOSNativeApi', 'app', ['curl', 'segment', 'rudderstack', 'posthog']],
  ['HTTPApiSource', 'server', ['curl', 'node', 'python', 'segment', 'rudderstack', 'posthog']],
  ['PythonApi', 'server', ['python', 'curl', 'node', 'segment', 'rudderstack', 'posthog']],
  ['TypeformWebhooks', 'webhook', ['curl']],
])(
  'snippets: a %s gets its snippets in the order of use, with the real address and its own key or id',
  (type, group, ids) => {
    const snippets = snippetsFor({ ...source, type, group });
    expect(snippets.map(({ id }) => id)).toEqual(ids);
    for (const { label, parts } of snippets) {
      const text = parts.map((part) => part.text).join('\n');
      expect([label, text]).toEqual([label, expect.stringContaining('ingest.example.com')]);
      expect([label, text]).toEqual([label, expect.stringMatching(/src_live_k|src-1/)]);
    }
  },
);

test('snippets: a snippet for a shell is one command with valid JSON', () => {
  const [curl] = snippetsFor({ ...source, type: 'HTTPApiSource', group: 'server' });
  const body = /-d '([\s\S]*)'$/.exec(curl?.parts[0]?.text ?? '')?.[1] ?? '';
  expect(JSON.parse(body)).toMatchObject({ token: 'src_live_k', event: 'Order Completed' });
});
