import type { ReactElement } from 'react';
import { Link, useParams } from 'react-router';
// The build puts it there: it stands with the alerts.
import runbook from 'runbook/alerts.md?raw';
import { Card, Empty, Page } from '../design/page.tsx';

/** What to do about an alert: the runbook, as it stands in the project. */
export function RunbookPage(): ReactElement {
  const { alert } = useParams();
  const sections = readSections(runbook);
  const section = sections.find(({ name }) => name.toLowerCase() === alert?.toLowerCase());
  return (
    <Page
      title={section?.name ?? 'Runbook'}
      lead={section === undefined ? 'What to do, by alert.' : undefined}
      back={section === undefined ? { to: '/system', label: 'System' } : { to: '/system/runbook', label: 'Runbook' }}
    >
      {section === undefined ? (
        <>
          {alert === undefined ? null : <Empty title="The runbook has no such alert." />}
          <ul className="choices">
            {sections.map(({ name, text }) => (
              <li key={name}>
                <Link to={`/system/runbook/${name}`}>
                  <strong>{name}</strong>
                  <span className="hint">{text.split('\n', 1)[0]}</span>
                </Link>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <Card>
          <pre className="prose" tabIndex={0} aria-label={`What to do about ${section.name}`}>
            {section.text}
          </pre>
        </Card>
      )}
    </Page>
  );
}

type Section = { readonly name: string; readonly text: string };

/** Each begins with `## ` and its alert. Marks that a reader of text does not need are left out. */
function readSections(text: string): Section[] {
  const [, ...sections] = text.split(/^## /m);
  return sections.map((section) => {
    const [name = '', ...lines] = section.split('\n');
    const plain = lines
      .join('\n')
      .replaceAll('**', '')
      .replaceAll(/\[([^\]]+)\]\(#[^)]*\)/g, '$1');
    return { name, text: plain.trim() };
  });
}
