import { useState } from 'react';
import type { ReactElement } from 'react';
import { useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Replay } from '../api/types.ts';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import { readTime } from '../design/local-time.ts';
import { countOf, showShare } from '../design/numbers.ts';
import { Card, Empty } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { TimeInput } from '../design/time-input.tsx';
import { Ago, showTime } from '../design/time.tsx';
import { ChosenLetters } from './chosen-letters.tsx';
import type { LettersProps } from './letter-filter.ts';

/** Replays of a destination: of dead letters, or of a range of the log. */
export function Replays({ destination, filter, hasLetters }: LettersProps): ReactElement {
  const mayReplay = useScope('destination:update');
  const path = `/destinations/${destination.id}`;
  const replays = useList<Replay>(`${path}/replays`, { everyMs: 1_000 });
  const [asking, setAsking] = useState<'dead-letters' | 'log'>();
  const start = useChange((body: object) => request<Replay>('POST', `${path}/replay`, body));
  const cancel = useChange((id: string) => request<Replay>('POST', `${path}/replays/${id}/cancel`));
  const [search] = useSearchParams();
  const [from, setFrom] = useState(() => givenTime(search.get('from'), Date.now() - hourMs));
  const [to, setTo] = useState(() => givenTime(search.get('until'), Date.now()));
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
                  <span className="hint">of {countOf(scanned, 'message')} read</span>
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
                Every event in this range goes through the live rules again, whether or not it was delivered. Each keeps
                its idempotency key.
              </p>
              <TimeInput
                label="From"
                hint="When events were received and resolved, in your time zone."
                of="second"
                required
                value={from}
                onChange={setFrom}
              />
              <TimeInput label="To" of="second" required value={to} onChange={setTo} />
            </>
          ) : (
            <p>
              <ChosenLetters destinationId={destination.id} filter={filter} /> leave this list and are retried. Events
              that are rejected again reappear in it.
            </p>
          )}
        </Confirm>
      )}
    </Card>
  );
}

const hourMs = 3_600_000;

/** The instant that a link names; `otherwiseMs`, to the second, if it names none. */
function givenTime(text: string | null, otherwiseMs: number): string {
  const atMs = readTime(text ?? '');
  return new Date(Number.isNaN(atMs) ? Math.floor(otherwiseMs / 1_000) * 1_000 : atMs).toISOString();
}

function What({ replay: { what, reason, message, from, to } }: { readonly replay: Replay }): ReactElement {
  if (what === 'dead-letters') {
    const given = [reason, message].filter((text) => text !== null);
    return <span dir="auto">{given.length === 0 ? 'All dead letters' : `Dead letters: ${given.join(', ')}`}</span>;
  }
  return (
    <span>
      The log from {from === null ? '' : showTime(from)} to {to === null ? '' : showTime(to)}
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
