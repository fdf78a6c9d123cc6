import type { ReactElement } from 'react';
import type { ShownRequest } from '../api/types.ts';
import { diffLines, plainLines } from './line-diff.ts';
import type { DiffLine } from './line-diff.ts';
import { headerLines, pretty } from './shown-request.tsx';

export type ComparedSide = {
  readonly title: string;
  /** Null if nothing is sent. */
  readonly request: ShownRequest | null;
  /** Shown below the title: the decision, a reason. */
  readonly note: ReactElement | string | null;
};

/** Two requests side by side; lines that the other one lacks are marked. Secrets are masked. */
export function ComparedRequests({
  before,
  after,
}: {
  readonly before: ComparedSide;
  readonly after: ComparedSide;
}): ReactElement {
  // Headers are shown only if they differ: equal ones would push the bodies out of sight.
  const withHeaders = headersOf(before.request) !== headersOf(after.request);
  const [one, other] = [textOf(before.request, withHeaders), textOf(after.request, withHeaders)];
  // If one side sends nothing, every line of the other side would be marked, which adds no information.
  const isCompared = before.request !== null && after.request !== null;
  const [old, now] = isCompared ? diffLines(one, other) : [plainLines(one), plainLines(other)];
  return (
    <div className="compared">
      <Side side={before} lines={old} />
      <Side side={after} lines={now} />
    </div>
  );
}

function headersOf(request: ShownRequest | null): string {
  return request === null ? '' : headerLines(request.headers);
}

function textOf(request: ShownRequest | null, withHeaders: boolean): string {
  if (request === null) return '';
  const line = `${request.method} ${request.url}`;
  const head = withHeaders ? `${line}\n${headersOf(request)}` : line;
  return request.body === null ? head : `${head}\n\n${pretty(request.body)}`;
}

function Side({ side, lines }: { readonly side: ComparedSide; readonly lines: readonly DiffLine[] }): ReactElement {
  return (
    <div className="stack tight">
      <h3>{side.title}</h3>
      {side.note === null ? null : <div>{side.note}</div>}
      {side.request === null ? (
        <p className="soft">Nothing is sent.</p>
      ) : (
        <pre tabIndex={0} aria-label={side.title}>
          {lines.map(({ text, isOwn }, index) => (
            // Lines have no key but their index.
            <span key={index} className={isOwn ? 'line own' : 'line'}>
              {text === '' ? ' ' : text}
            </span>
          ))}
        </pre>
      )}
    </div>
  );
}
