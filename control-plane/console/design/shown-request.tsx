import type { ReactElement } from 'react';
import type { ShownRequest } from '../api/types.ts';
import { Code, showJson } from './code.tsx';

/** A request that was sent or would be sent, with masked secrets. */
export function RequestView({
  request,
  bodyLabel = 'Body',
}: {
  readonly request: ShownRequest;
  readonly bodyLabel?: string;
}): ReactElement {
  return (
    <>
      <Code label="Request" text={`${request.method} ${request.url}\n${headerLines(request.headers)}`} />
      {request.body === null ? null : <Code label={bodyLabel} text={pretty(request.body)} />}
    </>
  );
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Formatted JSON with escaped direction characters; other text unchanged. */
export function pretty(text: string): string {
  try {
    return showJson(JSON.parse(text));
  } catch {
    return text;
  }
}
