import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { DeadLetter, Destination, Replay } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { countOf, showShare } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';

/** What a destination did not take, and sending it again. */
export function DeadLettersTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [search, setSearch] = useSearchParams();
  const reason = search.get('reason') ?? '';
  const days = search.get('olderThanDays') ?? '';
  const path = `/destinations/${destination.id}`;
  // To the minute: a time that goes on would be another list with each look.
  const nowMinute = Math.floor(Date.now() / minuteMs) * minuteMs;
  const olderThan = Number(days) > 0 ? new Date(nowMinute - Number(days) * dayMs).toISOString() : undefined;
  const filter: LetterFilter = {
    ...(reason === '' ? {} : { reason }),
    ...(olderThan === undefined ? {} : { to: olderThan }),
  };
  const query = new URLSearchParams(filter).toString();
  const letters = useList<DeadLetter>(`${path}/dead-letters${query === '' ? '' : `?${query}`}`, { everyMs: 5_000 });
  const choose = (name: string, value: string): void => {
    const chosen = new URLSearchParams({
      ...(reason === '' ? {} : { reason }),
      ...(days === '' ? {} : { olderThanDays: days }),
    });
    if (value === '') chosen.delete(name);
    else chosen.set(name, value);
    setSearch(chosen, { replace: true });
  };
  return (
    <>
      <Replays destination={destination} filter={filter} hasLetters={letters.entities.length > 0} />
      <Card
        title="Dead letters"
        isFlush
        aside={<Delete destination={destination} filter={filter} hasLetters={letters.entities.length > 0} />}
      >
        <div className="body">
          <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
            <Field label="Reason is exactly">
              {(ids) => (
                <input
                  {...ids}
                  type="search"
                  value={reason}
                  onChange={(event) => choose('reason', event.target.value)}
                />
              )}
            </Field>
            <Field label="Last attempt">
              {(ids) => (
                <select {...ids} value={days} onChange={(event) => choose('olderThanDays', event.target.value)}>
                  <option value="">at any time</option>
                  {olderThanDays.map((one) => (
                    <option key={one} value={one}>
                      more than {countOf(one, 'day')} ago
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </form>
        </div>
        <Waiting query={letters} />
        {letters.isSuccess && letters.entities.length === 0 ? (
          <Empty title={query === '' ? 'No dead letters.' : 'No dead letters match this filter.'}>
            <p>An event becomes a dead letter when the platform rejects it, or when its retries run out.</p>
          </Empty>
        ) : null}
        {letters.entities.length === 0 ? null : (
          <Table
            label="Dead letters"
            rows={letters.entities}
            keyOf={({ seq }) => String(seq)}
            columns={[
              {
                title: 'Event',
                cell: ({ event }) => (
                  <Link className="clip" dir="auto" to={`/events/${encodeURIComponent(event.id)}`}>
                    {event.name}
                  </Link>
                ),
              },
              {
                title: 'Reason',
                cell: (letter) => (
                  <button type="button" className="plain" onClick={() => choose('reason', letter.reason)}>
                    <span className="clip" dir="auto">
                      {letter.reason}
                    </span>
                  </button>
                ),
              },
              { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
              { title: 'Last attempt', cell: ({ lastAttemptAt }) => <Ago at={lastAttemptAt} /> },
            ]}
          />
        )}
        <More query={letters} />
      </Card>
    </>
  );
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const olderThanDays = [1, 7, 14] as const;

/** Selects dead letters by reason and by the time of their last attempt. */
type LetterFilter = { readonly reason?: string; readonly to?: string };

type LettersProps = {
  readonly destination: Destination;
  readonly filter: LetterFilter;
  readonly hasLetters: boolean;
};

/** What is meant, in words that go on. */
function inWords({ reason, to }: LetterFilter): string {
  const why = reason === undefined ? '' : ` for “${reason}”`;
  const when = to === undefined ? '' : `, last tried before ${new Date(to).toLocaleString()},`;
  return reason === undefined && to === undefined ? 'All dead letters' : `Dead letters${why}${when}`;
}

type Deleted = { readonly deleted: number; readonly pagination: { readonly nextCursor: string | null } };

function Delete({ destination, filter, hasLetters }: LettersProps): ReactElement | null {
  const mayDelete = useScope('destination:update');
  const [isAsking, setIsAsking] = useState(false);
  const remove = useChange(async () => {
    // A call deletes as much as it has time for.
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = new URLSearchParams({ ...filter, ...(cursor === '' ? {} : { cursor }) }).toString();
      const path = `/destinations/${destination.id}/dead-letters${query === '' ? '' : `?${query}`}`;
      const part: Deleted = await request<Deleted>('DELETE', path);
      cursor = part.pagination.nextCursor;
    }
  });
  if (!mayDelete) return null;
  return (
    <>
      <button type="button" disabled={!hasLetters} onClick={() => setIsAsking(true)}>
        Delete dead letters
      </button>
      {isAsking ? (
        <Confirm
          title="Delete these dead letters?"
          action="Delete"
          isDanger
          onDone={() => setIsAsking(false)}
          onConfirm={() => remove.mutateAsync(undefined)}
        >
          <p>{inWords(filter)} is deleted for good: it cannot be sent again.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function Replays({ destination, filter, hasLetters }: LettersProps): ReactElement {
  const mayReplay = useScope('destination:update');
  const path = `/destinations/${destination.id}`;
  const replays = useList<Replay>(`${path}/replays`, { everyMs: 1_000 });
  const [asking, setAsking] = useState<'dead-letters' | 'log'>();
  const start = useChange((body: object) => request<Replay>('POST', `${path}/replay`, body));
  const cancel = useChange((id: string) => request<Replay>('POST', `${path}/replays/${id}/cancel`));
  const [search] = useSearchParams();
  const [from, setFrom] = useState(() => localTime(search.get('from'), Date.now() - hourMs));
  const [to, setTo] = useState(() => localTime(search.get('until'), Date.now()));
  const begin = (): Promise<unknown> => {
    if (asking === 'dead-letters') return start.mutateAsync({ what: asking, ...filter });
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return start.mutateAsync({ what: 'log', ...range });
  };
  return (
    <Card
      title="Replays"
      isFlush
      aside={
        mayReplay ? (
          <span className="row">
            <button type="button" disabled={!hasLetters} onClick={() => setAsking('dead-letters')}>
              Replay dead letters
            </button>
            <button type="button" onClick={() => setAsking('log')}>
              Replay a time range
            </button>
          </span>
        ) : null
      }
    >
      <Waiting query={replays} />
      <ErrorNote error={cancel.error} />
      {replays.isSuccess && replays.entities.length === 0 ? <Empty title="No replays yet." /> : null}
      {replays.entities.length === 0 ? null : (
        <Table
          label="Replays"
          rows={replays.entities}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Range', cell: (replay) => <What replay={replay} /> },
            { title: 'Progress', cell: (replay) => <HowFar replay={replay} /> },
            {
              title: 'Replayed',
              isNumber: true,
              cell: ({ queued, scanned }) => (
                <div className="stack tight">
                  <span>{countOf(queued, 'event')}</span>
                  <span className="hint">of {countOf(scanned, 'message')} looked at</span>
                </div>
              ),
            },
            { title: 'Started', cell: ({ createdAt }) => <Ago at={createdAt} /> },
            {
              title: 'Actions',
              cell: ({ id, status }) =>
                mayReplay && (status === 'waiting' || status === 'running') ? (
                  <button type="button" disabled={cancel.isPending} onClick={() => cancel.mutate(id)}>
                    Cancel
                  </button>
                ) : null,
            },
          ]}
        />
      )}
      {asking === undefined ? null : (
        <Confirm
          title={asking === 'log' ? 'Replay a time range?' : 'Replay these dead letters?'}
          action="Replay"
          onDone={() => setAsking(undefined)}
          onConfirm={begin}
        >
          {asking === 'log' ? (
            <>
              <p>
                Every event of the account in this range goes through the live rules again, whether it was delivered or
                not. Each keeps its idempotency key.
              </p>
              <Field label="From" hint="When events were received and resolved, in your time zone.">
                {(ids) => (
                  <input
                    {...ids}
                    type="datetime-local"
                    step={1}
                    required
                    max={to}
                    value={from}
                    onChange={(event) => setFrom(event.target.value)}
                  />
                )}
              </Field>
              <Field label="To">
                {(ids) => (
                  <input
                    {...ids}
                    type="datetime-local"
                    step={1}
                    required
                    min={from}
                    value={to}
                    onChange={(event) => setTo(event.target.value)}
                  />
                )}
              </Field>
            </>
          ) : (
            <p>{inWords(filter)} leaves this list and is tried again; what is refused again comes back.</p>
          )}
        </Confirm>
      )}
    </Card>
  );
}

const hourMs = 3_600_000;

/** A time as a field for times has it: in the viewer's zone, to the second. */
function localTime(text: string | null, otherwiseMs: number): string {
  const given = text === null ? Number.NaN : Date.parse(text);
  const atMs = Number.isNaN(given) ? otherwiseMs : given;
  return new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function What({ replay: { what, reason, from, to } }: { readonly replay: Replay }): ReactElement {
  if (what === 'dead-letters')
    return <span dir="auto">{reason === null ? 'All dead letters' : `Dead letters: ${reason}`}</span>;
  return (
    <span>
      The log from {from === null ? '' : new Date(from).toLocaleString()} to{' '}
      {to === null ? '' : new Date(to).toLocaleString()}
    </span>
  );
}

const words: Readonly<Record<Replay['status'], readonly [Tone, string]>> = {
  waiting: ['off', 'Queued'],
  running: ['warn', 'Running'],
  cancelling: ['warn', 'Cancelling'],
  cancelled: ['off', 'Cancelled'],
  done: ['good', 'Done'],
};

function HowFar({ replay: { status, share } }: { readonly replay: Replay }): ReactElement {
  const [tone, text] = words[status];
  return (
    <div className="stack tight">
      <State tone={tone}>{text}</State>
      {status === 'done' || status === 'cancelled' ? null : (
        <>
          <progress max={1} value={share} aria-label={`Replay, ${showShare(share)} done`} />
          <span className="hint">{showShare(share)}</span>
        </>
      )}
    </div>
  );
}
