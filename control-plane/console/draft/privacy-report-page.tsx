import type { ReactElement } from 'react';
import { useParams } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { PrivacyReport } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { Table } from '../design/table.tsx';

const tones = {
  plain: 'warn',
  reduced: 'warn',
  hashed: 'good',
  redacted: 'good',
  encrypted: 'good',
  omitted: 'off',
  stopped: 'off',
} as const satisfies Record<PrivacyReport['rows'][number]['treatment'], string>;

/** Maximum number of rows shown in a table; the API returns all of them as JSON and CSV. */
const shownMax = 1_000;

/** The data that a version sends to destinations, and the difference to the previous version. */
export function PrivacyReportPage(): ReactElement {
  const { id = '' } = useParams();
  const query = useRead<PrivacyReport>(`/versions/${encodeURIComponent(id)}/privacy-report`);
  const report = query.data;
  return (
    <Page
      title="Privacy report"
      lead="Which data this version sends to each enabled destination, by event and property."
      back={{ to: `/versions/${id}`, label: 'Version' }}
    >
      <Waiting query={query} />
      {report === undefined ? null : (
        <>
          <Rows title={report.against === null ? 'New' : `New since version ${report.against}`} rows={report.added} />
          <Rows title="No longer sent" rows={report.removed} />
          <Rows title={`All of version ${report.versionNumber}`} rows={report.rows} />
        </>
      )}
    </Page>
  );
}

const eventWords: Readonly<Record<string, string>> = { '*': 'any', '$*': 'any built-in event' };

function Rows({ title, rows }: { readonly title: string; readonly rows: PrivacyReport['rows'] }): ReactElement {
  return (
    <Card title={title} isFlush>
      {rows.length === 0 ? (
        <Empty title="None." />
      ) : (
        <Table
          label={title}
          rows={rows.slice(0, shownMax)}
          keyOf={(row) => JSON.stringify(row)}
          columns={[
            { title: 'Event', cell: ({ event }) => eventWords[event] ?? event },
            { title: 'Property', cell: ({ property }) => (property === '*' ? 'all others' : property) },
            { title: 'Looks like', cell: ({ personal }) => (personal === null ? '–' : personal.replace('_', ' ')) },
            { title: 'Destination', cell: ({ destination }) => destination },
            {
              title: 'Sent as',
              cell: ({ treatment, isConditional }) => (
                <State tone={tones[treatment]}>
                  {isConditional ? `${treatment}, depending on a condition` : treatment}
                </State>
              ),
            },
            { title: 'By', cell: ({ by }) => by ?? '–' },
            {
              title: 'Purposes',
              cell: ({ purposes, consentRule, onOptOut }) =>
                `${purposes.join(consentRule === 'any' ? ' or ' : ' and ')}${onOptOut === 'limitedUse' ? '; opted out: limited use' : ''}`,
            },
            {
              title: 'Regions',
              cell: ({ regions, destinationRegion }) => [...regions, destinationRegion ?? ''].join(' '),
            },
          ]}
        />
      )}
    </Card>
  );
}
