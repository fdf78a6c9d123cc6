import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useList, useRead } from '../api/queries.ts';
import type { RecentEvent } from '../api/types.ts';
import { Code, showJson } from '../design/code.tsx';
import { Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Empty } from '../design/page.tsx';

/** The event rules are tried on: the one the address names, else the newest. */
export function useTriedEvent(): { readonly id: string; readonly event: RecentEvent | undefined } {
  const [search] = useSearchParams();
  const named = search.get('event') ?? '';
  const newest = useList<RecentEvent>('/events?limit=1', { enabled: named === '' });
  const id = named === '' ? (newest.entities[0]?.id ?? '') : named;
  const { data } = useRead<RecentEvent>(`/events/${encodeURIComponent(id)}`, { enabled: id !== '' });
  return { id, event: data };
}

const labelCharactersMax = 60;

/** Chooses it among recent ones, and shows what it says. */
export function EventChoice({ id, event }: ReturnType<typeof useTriedEvent>): ReactElement {
  const [search, setSearch] = useSearchParams();
  const [name, setName] = useState('');
  const events = useList<RecentEvent>(`/events?limit=50${name === '' ? '' : `&event=${encodeURIComponent(name)}`}`);
  const choose = (chosen: string): void => {
    const next = new URLSearchParams(search);
    next.set('event', chosen);
    setSearch(next, { replace: true });
  };
  const isListed = events.entities.some((one) => one.id === id);
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
      <Field label="Only events named">
        {(ids) => <input {...ids} type="search" value={name} onChange={(input) => setName(input.target.value)} />}
      </Field>
      <Waiting query={events} />
      {events.isSuccess && events.entities.length === 0 ? (
        <Empty title={name === '' ? 'No events yet.' : 'No recent event has this name.'}>
          {name === '' ? <Link to="/sources">Send one: each source page has code to copy.</Link> : null}
        </Empty>
      ) : null}
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

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

function labelOf({ event, time, test }: RecentEvent): string {
  const name = event.length > labelCharactersMax ? `${event.slice(0, labelCharactersMax)} …` : event;
  return `${name}, ${clock.format(time)}${test ? ', test' : ''}`;
}
