import { expect, test } from 'vitest';
import { createLinks, findDeadLinks, relativeHref } from './links.ts';
import type { Page } from './page.ts';
import { slugOf, summaryOf } from './page.ts';

const page = (path: string, source?: string): Page => ({
  path,
  source,
  markdown: '# Title\n\nFirst *words* of [it](x.md).\n',
});
const start = page('start', 'deploy/docs/pages/start.md');
const alerts = page('operate/alerts', 'deploy/runbook/alerts.md');
const settings = page('settings');

test('links: lead to a page (by its file or its address), to a file, or to another site', () => {
  const follow = createLinks([start, alerts, settings]);
  expect(follow(start, '../../runbook/alerts.md#x')).toEqual({ kind: 'page', page: alerts, hash: 'x' });
  expect(follow(alerts, '/docs/settings.html')).toEqual({ kind: 'page', page: settings, hash: '' });
  expect(follow(start, '#here')).toEqual({ kind: 'page', page: start, hash: 'here' });
  expect(follow(alerts, '../nats/accounts.conf')).toEqual({ kind: 'file', path: 'deploy/nats/accounts.conf' });
  expect(follow(start, '/docs/llms.txt')).toEqual({ kind: 'asset', file: 'llms.txt' });
  expect(follow(start, 'https://nats.io')).toEqual({ kind: 'outside', href: 'https://nats.io' });
  expect(() => follow(start, '/docs/gone.html')).toThrow('start links to /docs/gone.html');
  expect(relativeHref(alerts, 'start.html')).toBe('../start.html');
});

test('links: a link that leads nowhere is found, whether to another page, within its page or to a file', () => {
  const pages = new Map([
    [
      'a.html',
      '<h2 id="one">x</h2> <a href="b.html#two"> <a href="#one"> <a href="files/x.txt"> <a href="https://nats.io">',
    ],
    ['b.html', '<a href="a.html#gone"> <a href="#gone"> <a href="c.html"> <h2 id="two">'],
  ]);
  expect(findDeadLinks(pages, new Set(['files/x.txt']))).toEqual([
    'b.html: a.html#gone',
    'b.html: #gone',
    'b.html: c.html',
  ]);
});

test('page: headings are named as GitHub names them, and the summary is the first paragraph as text', () => {
  expect(slugOf('What is `RETRY_WINDOW_MS`, and why?')).toBe('what-is-retry_window_ms-and-why');
  expect(summaryOf(start)).toBe('First words of it.');
});
