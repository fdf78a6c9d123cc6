import type { ReactElement } from 'react';
import type { Exchange, PlatformError } from '../api/types.ts';
import { Code } from './code.tsx';
import { countOf } from './numbers.ts';
import { RequestView, headerLines, pretty } from './shown-request.tsx';

/** The platform's response in one line: `status 400 · 100/2804050 · Invalid parameter`. */
export function ErrorLine({ error }: { readonly error: PlatformError }): ReactElement {
  const { status, code, message } = error;
  return (
    <span className="wrap" dir="auto">
      <span className="mono">{[`status ${status}`, code].filter((part) => part !== null).join(' · ')}</span>
      {message === null ? null : ` ${message}`}
    </span>
  );
}

/** Whether the reason is only the status (`status 400`), which ErrorLine shows anyway. */
export function isStatusOnly({
  reason,
  error,
}: {
  readonly reason: string;
  readonly error: PlatformError | null;
}): boolean {
  return error !== null && reason === `status ${error.status}`;
}

/** A failed request and the platform's answer; secrets are masked. */
export function ExchangeView({ exchange: { request, answer } }: { readonly exchange: Exchange }): ReactElement {
  return (
    <div className="stack">
      {answer === null ? (
        <p>No response.</p>
      ) : (
        <>
          <Code
            label="Response of the platform"
            text={[`Status ${answer.status}`, headerLines(answer.headers)].filter((part) => part !== '').join('\n')}
          />
          <Code label={`Response body${cutWords(answer.isCut)}`} text={pretty(answer.body)} />
        </>
      )}
      <RequestView request={request} bodyLabel={`Request body${cutWords(request.isCut)}`} />
      {request.events > 1 ? (
        <p className="hint">
          The request contained {countOf(request.events, 'event')}. Its body is kept only when all of them belong to one
          visitor.
        </p>
      ) : null}
    </div>
  );
}

const cutWords = (isCut: boolean): string => (isCut ? ' (first 2 KiB)' : '');
