import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect, useState } from 'react';
import { useAccounts } from './accounts.ts';
import { open } from './request.ts';

export type Live<Value> = {
  readonly value: Value | undefined;
  readonly isConnected: boolean;
  readonly error: unknown;
};

const retryMs = { first: 500, most: 10_000 } as const;

/** The newest of the server-sent events of `path`. Reconnects when the stream ends, until the component is removed. */
export function useLive<Value>(path: string): Live<Value> {
  const { current } = useAccounts();
  const accountId = current?.accountId;
  const [live, setLive] = useState<Live<Value>>({ value: undefined, isConnected: false, error: undefined });
  useEffect(() => {
    const ended = new AbortController();
    setLive({ value: undefined, isConnected: false, error: undefined });
    void follow<Value>(path, ended.signal, (change) => setLive((before) => ({ ...before, ...change })));
    return () => ended.abort();
  }, [path, accountId]);
  return live;
}

async function follow<Value>(
  path: string,
  signal: AbortSignal,
  change: (live: Partial<Live<Value>>) => void,
): Promise<void> {
  let waitMs: number = retryMs.first;
  while (!signal.aborted) {
    try {
      const { body } = await open('GET', path, { signal });
      if (body !== null) {
        const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
        const reader = events.getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          change({ value: JSON.parse(next.value.data) as Value, isConnected: true, error: undefined });
          waitMs = retryMs.first;
        }
      }
      change({ isConnected: false });
    } catch (error) {
      if (signal.aborted) return;
      change({ isConnected: false, error });
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, retryMs.most);
  }
}
