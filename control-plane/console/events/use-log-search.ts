import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect, useRef, useState } from 'react';
import { open } from '../api/request.ts';
import type { LogSearch } from '../api/types.ts';

export type RunningSearch = {
  readonly report: LogSearch | undefined;
  readonly error: unknown;
  readonly isRunning: boolean;
  start(query: string): void;
  cancel(): void;
};

/** Runs one search of the log at a time. A running search is cancelled when the page is left. */
export function useLogSearch(): RunningSearch {
  const [report, setReport] = useState<LogSearch>();
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const ended = useRef<AbortController>(undefined);
  useEffect(() => () => ended.current?.abort(), []);
  const run = async (query: string, { signal }: AbortController): Promise<void> => {
    try {
      await readReports(query, signal, setReport);
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
    if (ended.current?.signal === signal) setRunning(false);
  };
  return {
    report,
    error,
    isRunning,
    start(query) {
      ended.current?.abort();
      const own = new AbortController();
      ended.current = own;
      setReport(undefined);
      setError(undefined);
      setRunning(true);
      void run(query, own);
    },
    cancel() {
      ended.current?.abort();
      setRunning(false);
    },
  };
}

async function readReports(query: string, signal: AbortSignal, take: (report: LogSearch) => void): Promise<void> {
  const { body } = await open('GET', `/events/search?${query}`, { signal });
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const report = JSON.parse(next.value.data) as LogSearch;
    take(report);
    if (report.status === 'running') continue;
    // The server keeps the stream open after the last report.
    await reader.cancel();
    return;
  }
  throw new Error('The search ended before its result: the connection was closed. Search again.');
}
