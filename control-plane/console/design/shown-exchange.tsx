import type { ReactElement } from 'react';
import type { Exchange, PlatformError } from '../api/types.ts';
import { Code } from './code.tsx';
import { countOf } from './numbers.ts';
import { RequestView, headerLines, pretty } from './shown-request.tsx';

/** What the platform answered, in one line: `status 400 · 100/2804050 · Invalid parameter`. */
export function ErrorLine({ error }: { readonly error: PlatformError }): ReactElement {
  const { status, code, message } = error;
  return (
    <span className="wrap" dir="auto">
      <span className="mono">{[`status ${status}`, code].filter((part) => part !== null).join(' · ')}</span>
      {message === null ? null : ` ${message}`}
    </span>
  );
}

/** A failed request and the platform's answer; secrets are masked. */
export function ExchangeView({ exchange: { request, answer } }: { readonly exchange: Exchange }): ReactElement {
  return (
    <div className="stack">
      {answer === null ? (
        <p>There was no answer.</p>
      ) : (
        <>
          <Code
            label="Answer of the platform"
            text={[`Status ${answer.status}`, headerLines(answer.headers)].filter((part) => part !== '').join('\n')}
          />
          <Code label={`Body of the answer${cutWords(answer.isCut)}`} text={pretty(answer.body)} />
        </>
      )}
      <RequestView request={request} bodyLabel={`Body of the request${cutWords(request.isCut)}`} />
      {request.events > 1 ? (
        <p className="hint">
          The request held {countOf(request.events, 'event')}. Its body is kept only where all events are of one
          visitor.
        </p>
      ) : null}
    </div>
  );
}

const cutWords = (isCut: boolean): string => (isCut ? ' (first 2 KiB)' : '');
