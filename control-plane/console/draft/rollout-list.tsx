import type { ReactElement, ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import type { Rollout } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { At } from '../design/time.tsx';

const names: Readonly<Record<string, string>> = { gateway: 'Gateways', pipeline: 'Pipelines' };

/** How many processes of each kind run the live version, and since when. */
export function RolloutList({ versionId }: { readonly versionId: string }): ReactElement {
  const query = useRead<Rollout>(`/versions/${versionId}/rollout`, { everyMs: 2_000 });
  return (
    <>
      <Waiting query={query} />
      <dl className="facts">
        {query.data?.processes.map(({ kind, alive, running, since }) => (
          <Kind key={kind} name={names[kind] ?? kind}>
            {alive === 0 ? (
              <State tone="bad">None running</State>
            ) : (
              <State tone={running === alive ? 'good' : 'warn'}>
                {running} of {alive} run it
              </State>
            )}
            {since === null ? null : (
              <span className="hint">
                {' '}
                since <At at={since} />
                {delay(query.data.sentAt, since)}
              </span>
            )}
          </Kind>
        ))}
      </dl>
    </>
  );
}

function Kind({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactElement {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Time since the processes were notified; empty if it is negative because clocks differ. */
function delay(sentAt: string | null, since: string): string {
  const tookMs = sentAt === null ? -1 : Date.parse(since) - Date.parse(sentAt);
  return tookMs < 0 ? '' : `, ${tookMs} ms after publishing`;
}
