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
  delivered: ['good', 'The platform took it.'],
  dropped: ['warn', 'The platform took it, and threw it away by a rule of its own.'],
  held: ['bad', 'It refuses the key or token; the pipeline would hold its events until it takes one.'],
  retry: ['warn', 'It did not arrive; the pipeline would try again.'],
  reject: ['bad', 'It was refused; the pipeline would give it up.'],
  skipped: ['off', 'The platform has no use for an event of this name: nothing was sent.'],
};

/** Sends one made-up event, and shows what went out and what came back. */
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
          <Field label="Name of the event">
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
          <Field label="With the settings of" hint="The event is made up, really sent, and counted nowhere.">
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
              {test.isPending ? 'Sending …' : 'Send it'}
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
    <Card title="What became of it">
      <div role="status" className="stack tight">
        <State tone={tone}>{text}</State>
        {result.reason === null ? null : <p dir="auto">{result.reason}</p>}
        {result.durationMs === null ? null : <p className="hint">It took {showMs(result.durationMs)}.</p>}
      </div>
      {result.request === null ? null : <RequestView request={result.request} />}
      {result.answer === null ? null : (
        <>
          <Code label="Answer" text={`${result.answer.status}\n${headerLines(result.answer.headers)}`} />
          {result.answer.body === '' ? null : <Code label="Its body" text={pretty(result.answer.body)} />}
        </>
      )}
    </Card>
  );
}
