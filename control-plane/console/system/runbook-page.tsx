import type { MouseEvent, ReactElement } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
// The build renders both from the runbook's Markdown.
import alerts from 'runbook/alerts.md';
import symptoms from 'runbook/symptoms.md';
import { Card, Empty, Page } from '../design/page.tsx';

type Section = (typeof alerts)[number];

/** What to do about a symptom or an alert. */
export function RunbookPage(): ReactElement {
  const { section: wanted } = useParams();
  const navigate = useNavigate();
  const slug = wanted?.toLowerCase();
  const section = [...symptoms, ...alerts].find((one) => one.slug === slug);
  if (section === undefined) {
    return (
      <Page title="Runbook" lead="What to do, by symptom or alert." back={{ to: '/system', label: 'System' }}>
        {wanted === undefined ? null : <Empty title="The runbook has no such section." />}
        <Card title="By symptom">
          <Sections sections={symptoms} />
        </Card>
        <Card title="By alert">
          <Sections sections={alerts} />
        </Card>
      </Page>
    );
  }
  const follow = (event: MouseEvent): void => {
    const href = event.target instanceof Element ? event.target.closest('a')?.getAttribute('href') : undefined;
    if (href?.startsWith('/system/') !== true || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void navigate(href);
  };
  return (
    <Page title={section.title} back={{ to: '/system/runbook', label: 'Runbook' }}>
      <Card>
        <div className="prose" onClick={follow} dangerouslySetInnerHTML={{ __html: section.html }} />
      </Card>
    </Page>
  );
}

function Sections({ sections }: { readonly sections: readonly Section[] }): ReactElement {
  return (
    <ul className="choices">
      {sections.map(({ slug, title, lead }) => (
        <li key={slug}>
          <Link to={`/system/runbook/${slug}`}>
            <strong>{title}</strong>
            <span className="hint">{lead}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
