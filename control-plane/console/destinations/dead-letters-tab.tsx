import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { DeadLetter, Destination } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';
import { Confirm } from '../design/confirm.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { OlderThanField, useTimeBefore } from '../design/older-than.tsx';
import { Card, Empty } from '../design/page.tsx';
import { ErrorLine, isStatusOnly } from '../design/shown-exchange.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { ChosenLetters } from './chosen-letters.tsx';
import type { LetterFilter, LettersProps } from './letter-filter.ts';
import { Replays } from './replays-card.tsx';

/** The dead letters of a destination, with actions to replay or delete them. */
export function DeadLettersTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [search, setSearch] = useSearchParams();
  const reason = search.get('reason') ?? '';
  const message = search.get('message') ?? '';
  const days = search.get('olderThanDays') ?? '';
  const path = `/destinations/${destination.id}`;
  const olderThan = useTimeBefore(days);
  const filter: LetterFilter = {
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
    ...(olderThan === undefined ? {} : { to: olderThan }),
  };
  const query = useSettled(new URLSearchParams(filter).toString());
  const letters = useList<DeadLetter>(`${path}/dead-letters${query === '' ? '' : `?${query}`}`, { everyMs: 5_000 });
  const choose = (name: string, value: string): void => {
    const chosen = new URLSearchParams({
      ...(reason === '' ? {} : { reason }),
      ...(message === '' ? {} : { message }),
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
            <Field label="Message is exactly">
              {(ids) => (
                <input
                  {...ids}
                  type="search"
                  value={message}
                  onChange={(event) => choose('message', event.target.value)}
                />
              )}
            </Field>
            <OlderThanField label="Last attempt" days={days} onChange={(to) => choose('olderThanDays', to)} />
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
                  <div className="stack tight">
                    <Link className="clip" dir="auto" to={`/events/${encodeURIComponent(event.id)}`}>
                      {event.name}
                    </Link>
                    {event.orderId === null ? null : (
                      <span className="hint clip" dir="auto">
                        order {event.orderId}
                      </span>
                    )}
                  </div>
                ),
              },
              {
                title: 'Visitor',
                cell: ({ event }) => (
                  <Link className="clip short mono" to={`/visitors/${encodeURIComponent(event.visitorId)}`}>
                    {event.visitorId}
                  </Link>
                ),
              },
              {
                title: 'Reason',
                cell: (letter) => (
                  <div className="stack tight">
                    <button type="button" className="plain" onClick={() => choose('reason', letter.reason)}>
                      {letter.error !== null && isStatusOnly(letter) ? (
                        <ErrorLine error={letter.error} />
                      ) : (
                        <span className="clip" dir="auto">
                          {letter.reason}
                        </span>
                      )}
                    </button>
                    {letter.error === null || isStatusOnly(letter) ? null : <ErrorLine error={letter.error} />}
                  </div>
                ),
              },
              { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
              { title: 'Last attempt', cell: ({ lastAttemptAt }) => <Ago at={lastAttemptAt} /> },
              {
                title: 'Details',
                cell: ({ seq }) => (
                  <Link to={`/destinations/${destination.id}/dead-letters/${seq}`}>Show the response</Link>
                ),
              },
            ]}
          />
        )}
        <More query={letters} />
      </Card>
    </>
  );
}

type Deleted = { readonly deleted: number; readonly pagination: { readonly nextCursor: string | null } };

function Delete({ destination, filter, hasLetters }: LettersProps): ReactElement | null {
  const mayDelete = useScope('destination:update');
  const [isAsking, setIsAsking] = useState(false);
  const remove = useChange(async () => {
    // One request deletes as many dead letters as its time limit allows; the next one continues at the cursor.
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
          <p>
            <ChosenLetters destinationId={destination.id} filter={filter} /> are deleted permanently and cannot be
            replayed.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
