import { useEffect, useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useList, useRead } from '../api/queries.ts';
import type { RecentEvent } from '../api/types.ts';
import { Code, showJson } from '../design/code.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Empty } from '../design/page.tsx';
import { showTime } from '../design/time.tsx';

export type TriedEvent = {
  readonly id: string;
  readonly event: RecentEvent | undefined;
  /** Recent events that the rule applies to, the newest first; undefined if they are not read. */
  readonly matching: readonly { readonly id: string }[] | undefined;
};

/**
 * The event on which rules are tried: the one in the page's query, else the newest event that the rule applies to, else
 * the newest event.
 */
export function useTriedEvent(matching?: TriedEvent['matching']): TriedEvent {
  const [search] = useSearchParams();
  const named = search.get('event') ?? matching?.[0]?.id ?? '';
  const newest = useList<RecentEvent>('/events?limit=1', { enabled: named === '' });
  const id = named === '' ? (newest.entities[0]?.id ?? '') : named;
  const { data } = useRead<RecentEvent>(`/events/${encodeURIComponent(id)}`, { enabled: id !== '' });
  return { id, event: data, matching };
}

const labelCharactersMax = 60;

/** Chooses a recent event and shows its content. */
export function EventChoice({ id, event, matching }: TriedEvent): ReactElement {
  const [search, setSearch] = useSearchParams();
  const [name, setName] = useState('');
  const filter = name.trim() === '' ? '' : `&name=${encodeURIComponent(name.trim())}`;
  const events = useList<RecentEvent>(`/events?limit=50${filter}`);
  const choose = (chosen: string): void => {
    const next = new URLSearchParams(search);
    next.set('event', chosen);
    setSearch(next, { replace: true });
  };
  const isListed = events.entities.some((one) => one.id === id);
  const [first] = events.entities;
  // If the filter excludes the chosen event, the first event that matches the filter is chosen.
  const moves = filter !== '' && events.isSuccess && first !== undefined && !isListed;
  useEffect(() => {
    if (moves) choose(first.id);
  }, [moves, first?.id]);
  const isMatching = matching?.some((one) => one.id === id) !== false;
  const [other] = matching ?? [];
  return (
    <>
      <Field label="Try it on">
        {(ids) => (
          <select {...ids} value={id} onChange={(input) => choose(input.target.value)}>
            {isListed || id === '' ? null : <option value={id}>{event === undefined ? id : labelOf(event)}</option>}
            {events.entities.map((one) => (
              <option key={one.id} value={one.id}>
                {labelOf(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Only events whose name contains">
        {(ids) => <input {...ids} type="search" value={name} onChange={(input) => setName(input.target.value)} />}
      </Field>
      <Waiting query={events} />
      {events.isSuccess && events.entities.length === 0 ? (
        <Empty title={name === '' ? 'No events yet.' : 'No recent event has this name.'}>
          {name === '' ? <Link to="/sources">Send one: each source page has code to copy.</Link> : null}
        </Empty>
      ) : null}
      {isMatching || other === undefined ? null : (
        <div className="row">
          <span className="soft">The rule does not apply to this event.</span>
          <button type="button" className="plain" onClick={() => choose(other.id)}>
            Try one that it applies to
          </button>
        </div>
      )}
      {event === undefined ? null : (
        <details>
          <summary>Content</summary>
          <Code
            label="Event and visitor as rules read them"
            text={showJson({
              event: { event: event.event, event_properties: event.eventProperties, context: event.context },
              visitor: event.visitor,
            })}
          />
        </details>
      )}
    </>
  );
}

function labelOf({ event, time, test, visitor, eventProperties }: RecentEvent): string {
  const person = visitor['email'] ?? visitor['external_id'] ?? eventProperties['order_id'];
  const known = typeof person === 'string' ? `, ${short(person)}` : '';
  return `${short(event)}${known}, ${showTime(time)}${test ? ', test' : ''}`;
}

function short(text: string): string {
  return text.length > labelCharactersMax ? `${text.slice(0, labelCharactersMax)} …` : text;
}
