import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { runbookSections } from './runbook-sections.ts';

test('runbook sections: are HTML, with links to sections of the console and pages of the documentation', async () => {
  const text = `# Page

## The disk is full

Severity: page.

**What** to \`do\` <b>now</b>:

- [Log](alerts.md#sluicelog) and [own](#other), [size](sizing.md#a), [tune](../docs/pages/tune.md)

\`\`\`sh
du -sh
\`\`\`
`;
  const [section, ...others] = runbookSections(text);
  expect(others).toEqual([]);
  expect(section).toMatchObject({
    slug: 'the-disk-is-full',
    title: 'The disk is full',
    lead: 'What to do <b>now</b>:',
  });
  for (const part of [
    '<strong>What</strong> to <code>do</code> &lt;b&gt;now&lt;/b&gt;:',
    '<a href="/system/runbook/sluicelog">Log</a> and <a href="/system/runbook/other">own</a>',
    '<a href="/docs/operate/sizing.html#a">size</a>, <a href="/docs/tune.html">tune</a>',
    '<pre tabindex="0"><code class="language-sh">du -sh',
  ]) {
    expect(section?.html).toContain(part);
  }
  expect(() => runbookSections('## A\n\n[x](../nowhere.ts)')).toThrow('leads to no page');
});

test('runbook sections: links between pages of the runbook lead to existing sections, and each section begins with a summary', async () => {
  const pages = ['alerts', 'symptoms'].map((name) => readFile(new URL(`deploy/runbook/${name}.md`, topFolder), 'utf8'));
  const sections = (await Promise.all(pages)).flatMap(runbookSections);
  // A lead must say more than the word with which every alert begins.
  expect(sections.filter(({ lead }) => lead.length < 20).map(({ title, lead }) => [title, lead])).toEqual([]);
  const slugs = sections.map(({ slug }) => slug);
  expect(new Set(slugs).size).toBe(slugs.length);
  const links = sections.flatMap(({ html }) => [...html.matchAll(/href="\/system\/runbook\/([^"]+)"/g)]);
  expect(links.length).toBeGreaterThan(20);
  expect(links.map(([, slug]) => slug).filter((slug) => !slugs.includes(slug ?? ''))).toEqual([]);
});
