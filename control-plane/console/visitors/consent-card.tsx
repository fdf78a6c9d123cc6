import { Fragment } from 'react';
import type { ReactElement } from 'react';
import type { JsonObject } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';

/** A visitor's consent for each purpose, from its profile. */
export function ConsentCard({ consent }: { readonly consent: unknown }): ReactElement {
  const words = isObject(consent) ? Object.entries(consent) : [];
  return (
    <Card title="Consent">
      {words.length === 0 ? <p>No decisions recorded: the default of each purpose applies.</p> : null}
      <dl className="facts">
        {words.map(([purpose, value]) => (
          <Fragment key={purpose}>
            <dt>{purpose}</dt>
            <dd>
              <Word value={value} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  );
}

function Word({ value }: { readonly value: unknown }): ReactElement {
  if (value === true) return <State tone="good">allowed</State>;
  if (value === false) return <State tone="bad">denied</State>;
  return <span className="mono">{JSON.stringify(value)}</span>;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
