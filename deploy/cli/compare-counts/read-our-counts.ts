import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { OurCounts } from './compare-counts.ts';

export type CountsAccess = { readonly controlPlane: string; readonly apiKey: string };

/** The control plane did not return its counts: the request and the response. */
export class CountsError extends Error {
  readonly code = 'counts_unavailable';
}

const deadlineMs = 60_000;

/** Requests the counts by name and day from the control plane, from day `first` to `last`. Throws CountsError. */
export async function readOurCounts(
  { controlPlane, apiKey }: CountsAccess,
  days: { readonly first: string; readonly last: string },
): Promise<OurCounts> {
  const query = new URLSearchParams({ firstDay: days.first, lastDay: days.last, test: 'false' });
  const url = `${controlPlane.replace(/\/+$/, '')}/rest/v1/events/counts?${query.toString()}`;
  const answer = await ask(url, apiKey);
  const body: unknown = await answer.json().catch(() => undefined);
  if (!answer.ok || !isJsonObject(body)) {
    const said = isJsonObject(body) && typeof body['error'] === 'string' ? `: ${body['error']}` : '';
    throw new CountsError(`counting our events at ${url}: status ${answer.status}${said}`);
  }
  const { counts, since, until, isComplete } = body as CountsReply;
  if (!isComplete) throw new CountsError('counting our events: there are too many names and days; compare fewer days');
  return {
    counts: counts.map(({ event, day, events, isSampled }) => ({ event, day, count: events, isSampled })),
    sinceMs: since === null ? undefined : Date.parse(since),
    untilMs: Date.parse(until),
  };
}

/** The reply of `GET /rest/v1/events/counts`. */
type CountsReply = {
  readonly counts: readonly {
    readonly event: string;
    readonly day: string;
    readonly events: number;
    readonly isSampled: boolean;
  }[];
  readonly since: string | null;
  readonly until: string;
  readonly isComplete: boolean;
};

async function ask(url: string, apiKey: string): Promise<Response> {
  try {
    return await fetch(url, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(deadlineMs),
    });
  } catch (error) {
    throw new CountsError(`counting our events at ${url}: no answer`, { cause: error });
  }
}
