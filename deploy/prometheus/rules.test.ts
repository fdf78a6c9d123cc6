import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRules, unknownMetrics } from './expressions.ts';

const recording = await readRules('recording.yml');
const alerts = await readRules('alerts.yml');
const recorded = new Set(recording.map(({ record }) => record ?? ''));

test.each([...recording, ...alerts].map((rule) => [rule.record ?? rule.alert ?? '', rule.expr]))(
  'rule %s: asks for metrics that exist',
  (_name, expr) => {
    // Text in quotes, such as the name of a job, is not a metric.
    expect(unknownMetrics(expr.replaceAll(/"[^"]*"/g, '""'), recorded)).toEqual([]);
  },
);

test('metrics: an unknown name is found', () => {
  expect(unknownMetrics('rate(sluice_gone_total[5m]) / sluice:never:recorded', recorded)).toHaveLength(2);
  expect(unknownMetrics('rate(sluice_event_age_seconds_bucket[5m])', recorded)).toEqual([]);
});

test.each(alerts.map((alert) => [alert.alert ?? '', alert]))(
  'alert %s: says how grave it is, and its runbook section exists',
  async (name, { labels, annotations }) => {
    expect(['page', 'ticket']).toContain(labels?.['severity']);
    expect(annotations?.['summary']).toBeTruthy();
    expect(annotations?.['description']).toBeTruthy();
    const [file, section] = (annotations?.['runbook_url'] ?? '').split('#');
    expect(section).toBe(name.toLowerCase());
    const runbook = await readFile(join(import.meta.dirname, '../..', file ?? ''), 'utf8');
    expect(runbook).toContain(`\n## ${name}\n\nSeverity: ${labels?.['severity'] ?? ''}.\n`);
  },
);

test('alerts: an alert about a destination names it and links to its page; the example alertmanager.yml routes both severities', async () => {
  const about = alerts.filter(({ expr }) => /by \(destination_id\)|destination_id:/.test(expr));
  expect(about.length).toBeGreaterThan(8);
  for (const { alert, annotations } of about) {
    expect([alert, annotations?.['console_url']]).toEqual([alert, expect.stringContaining('/destinations/{{')]);
    const texts = `${annotations?.['summary'] ?? ''} ${annotations?.['description'] ?? ''}`;
    expect([alert, texts]).toEqual([alert, expect.stringContaining('sluice_destination_info')]);
  }
  const example = await readFile(join(import.meta.dirname, 'alertmanager.yml'), 'utf8');
  const { route, receivers } = parse(example) as {
    readonly route: { readonly routes: readonly { readonly matchers: readonly string[]; readonly receiver: string }[] };
    readonly receivers: readonly { readonly name: string }[];
  };
  expect(route.routes.flatMap(({ matchers }) => matchers)).toEqual(['severity="page"', 'severity="ticket"']);
  for (const { receiver } of route.routes) expect(receivers.map(({ name }) => name)).toContain(receiver);
});

test('alerts: each has a test that fires it and one in which it stays quiet', async () => {
  const text = await readFile(join(import.meta.dirname, 'tests/alerts.test.yml'), 'utf8');
  const { tests } = parse(text) as { readonly tests: readonly { readonly name: string }[] };
  const names = tests.map(({ name }) => name);
  for (const { alert } of alerts) {
    expect(names).toContain(`${alert ?? ''} fires`);
    expect(names).toContain(`${alert ?? ''} stays quiet`);
  }
});

test('runbook: has no section without an alert', async () => {
  const runbook = await readFile(join(import.meta.dirname, '../runbook/alerts.md'), 'utf8');
  const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
  expect(new Set(sections)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  expect(sections).toHaveLength(alerts.length);
  const links = [...runbook.matchAll(/\]\(#([a-z]+)\)/g)].map(([, anchor]) => anchor);
  for (const anchor of links) expect(sections.map((name) => name?.toLowerCase())).toContain(anchor);
});
