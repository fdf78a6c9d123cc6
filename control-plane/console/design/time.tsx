import { useEffect, useState } from 'react';
import type { ReactElement } from 'react';

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A time as text in the format of all pages: with seconds, in the viewer's zone. */
export const showTime = (at: string | number): string => exact.format(new Date(at));

/**
 * How long ago something happened, with its time in the viewer's zone as the title. The page reads its clock every ten
 * seconds, and the clock may be slow: a later time counts as now.
 */
export function Ago({ at }: { readonly at: string | number | null }): ReactElement {
  const nowMs = useNow();
  if (at === null) return <span className="soft">never</span>;
  const date = new Date(at);
  return (
    <time className="nowrap" dateTime={date.toISOString()} title={exact.format(date)}>
      {wordsFor(Math.min(0, date.getTime() - nowMs))}
    </time>
  );
}

/** A time to the second, in the viewer's zone. */
export function At({ at }: { readonly at: string | number }): ReactElement {
  const date = new Date(at);
  return (
    <time className="nowrap" dateTime={date.toISOString()}>
      {exact.format(date)}
    </time>
  );
}

/** A day in UTC. */
export function Day({ at }: { readonly at: string }): ReactElement {
  return (
    <time className="nowrap" dateTime={at}>
      {day.format(new Date(at))}
    </time>
  );
}

function wordsFor(fromNowMs: number): string {
  if (Math.abs(fromNowMs) < 5_000) return 'just now';
  for (const [unit, ms] of units) {
    if (Math.abs(fromNowMs) >= ms) return relative.format(Math.round(fromNowMs / ms), unit);
  }
  return relative.format(Math.round(fromNowMs / 1_000), 'second');
}

function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
