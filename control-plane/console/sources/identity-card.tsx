import { Fragment } from 'react';
import type { ReactElement } from 'react';
import { useRead } from '../api/queries.ts';
import type { IdentityCounts } from '../api/types.ts';
import { Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { Ago } from '../design/time.tsx';

const labels: Readonly<Record<IdentityCounts['entities'][number]['reason'], string>> = {
  blocked: 'Blocked identifiers',
  userHash: 'Invalid userHash',
  notOverwritten: 'Values set by a server, sent again with a public key',
  keptApart: 'Known visitors not merged',
  oversized: 'Over the size limit of a profile',
  overLimit: 'E-mail addresses and devices over the account’s limits',
  full: 'Over 1,000 identifiers per visitor',
};

/** Identity data of the last 7 days that was in a source's events but not stored with visitors. */
export function IdentityCard({ sourceId }: { readonly sourceId: string }): ReactElement {
  const query = useRead<IdentityCounts>(`/identity-counts?range=7d&sourceId=${encodeURIComponent(sourceId)}`);
  const figures = query.data?.entities ?? [];
  return (
    <Card title="Identity data not stored, last 7 days">
      <Waiting query={query} />
      {query.isSuccess && figures.length === 0 ? <p>Nothing.</p> : null}
      <dl className="facts">
        {figures.map(({ reason, count, lastAt }) => (
          <Fragment key={reason}>
            <dt>{labels[reason]}</dt>
            <dd>
              {count.toLocaleString('en')}, last <Ago at={lastAt} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  );
}
