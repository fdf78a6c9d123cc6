import { useState } from 'react';
import type { ReactElement } from 'react';
import { useScope } from '../api/accounts.ts';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Destination, DestinationTestResult } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { ErrorNote, State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { showMs } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { RequestView, headerLines, pretty } from '../design/shown-request.tsx';

const words: Readonly<Record<DestinationTestResult['outcome'], readonly [Tone, string]>> = {
  delivered: ['good', 'Accepted by the platform.'],
  dropped: ['warn', 'Accepted, then discarded by a rule of the platform.'],
  held: ['bad', 'The platform rejected the key or token. Live events would wait until you replace it.'],
  retry: ['warn', 'Not delivered. A live event would be retried.'],
  reject: ['bad', 'Rejected. A live event would become a dead letter.'],
  skipped: ['off', 'Nothing was sent: this platform does not accept events with this name.'],
};

/** Sends one sample event, and shows its request and response. */
export function TestTab({ destination }: { readonly destination: Destination }): ReactElement {
  const mayTest = useScope('destination:update');
  const [event, setEvent] = useState('Order Completed');
  const [settings, setSettings] = useState('draft');
  const test = useChange((body: object) =>
    request<DestinationTestResult>('POST', `/destinations/${destination.id}/test`, body),
  );
  return (
    <div className="columns">
      <Card title="Send a test event">
        <form
          onSubmit={(submitted) => {
            submitted.preventDefault();
            test.mutate({ event, settings });
          }}
        >
          <Field label="Event name">
            {(ids) => (
              <input
                {...ids}
                required
                maxLength={1_000}
                value={event}
                onChange={(input) => setEvent(input.target.value)}
              />
            )}
          </Field>
          <Field label="Settings" hint="Sends a sample event to the platform. It does not count towards health.">
            {(ids) => (
              <select {...ids} value={settings} onChange={(input) => setSettings(input.target.value)}>
                <option value="draft">the draft</option>
                <option value="published">the live version</option>
              </select>
            )}
          </Field>
          {mayTest ? null : <p className="note warn">This key lacks the scope destination:update.</p>}
          <ErrorNote error={test.error} />
          <div className="row">
            <button className="primary" type="submit" disabled={test.isPending || !mayTest}>
              {test.isPending ? 'Sending …' : 'Send'}
            </button>
          </div>
        </form>
      </Card>
      {test.data === undefined ? null : <Result result={test.data} />}
    </div>
  );
}

function Result({ result }: { readonly result: DestinationTestResult }): ReactElement {
  const [tone, text] = words[result.outcome];
  return (
    <Card title="Outcome">
      <div role="status" className="stack tight">
        <State tone={tone}>{text}</State>
        {result.reason === null ? null : <p dir="auto">{result.reason}</p>}
        {result.durationMs === null ? null : <p className="hint">Took {showMs(result.durationMs)}.</p>}
      </div>
      {result.request === null ? null : <RequestView request={result.request} />}
      {result.answer === null ? null : (
        <>
          <Code label="Answer" text={`${result.answer.status}\n${headerLines(result.answer.headers)}`} />
          {result.answer.body === '' ? null : <Code label="Response body" text={pretty(result.answer.body)} />}
        </>
      )}
    </Card>
  );
}
